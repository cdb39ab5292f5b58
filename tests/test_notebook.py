"""The public interface in a real notebook: every line runs, and what people would look at draws itself."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

CELLS = {
    """
import rookery as rk

class MyAgent:
    def choose(self, state):
        return state.legal_actions()[0]

game = rk.load("checkers")
state = game.initial_state()
state.apply(state.parse_action("11-15"))
state
""": "image/svg+xml",
    'agent = rk.agent("td:depth=3", game)\nagent.choose(state); agent.values(state); agent.explain(state)': "text/html",
    'rk.match(game, "ladder:depth=1", MyAgent(), games=4)': "text/html",
    'rk.tournament(game, ["random", "ladder:depth=1", MyAgent()], games=2)': "text/html",
    'run = rk.train(game, "q-learning", games=100, out="runs/mine")\nrun.agent().choose(state)\nrun': "text/html",
    'rk.solve(game.parse_state("W:WK18,K23:BK1"))': "text/html",
    "envs = rk.vector(game, 1024, seed=0)\nenvs.step(envs.sample())\nenvs.mask.sum()": "text/plain",
    'rk.study("overview", size="quick")': "text/html",
    "game": "text/html",
    "agent": "text/html",
}


def test_the_public_interface(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for cell, kind in zip(notebook.cells, CELLS.values(), strict=True):
        results = [output for output in cell.outputs if output.output_type == "execute_result"]
        assert results, cell.source
        assert kind in results[-1].data, cell.source
        assert not [output for output in cell.outputs if output.output_type == "stream"], cell.outputs
