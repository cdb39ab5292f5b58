from __future__ import annotations

import random
import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

import rookery
from rookery.agents import Agent, Drawing, Explanation, as_agent
from rookery.game import CHANCE, TERMINAL, State, play_chance
from rookery.games.tenten import lspi
from rookery.registry import agent as load_agent
from rookery.registry import agent_names, method, strongest
from tests.tic_tac_toe import TicTacToe

GAME = TicTacToe()


def test_minimax_never_loses_tic_tac_toe() -> None:
    rng = random.Random(6)
    players = [load_agent("random", GAME), load_agent("minimax:depth=9", GAME)]
    for _ in range(6):
        state = GAME.initial_state()
        while state.player() != TERMINAL:
            state.apply(players[state.player()].choose(state, rng))
        assert state.returns()[1] >= 0


@pytest.mark.parametrize("name", ["random", "minimax:depth=2", "mcts:simulations=50"])
def test_agents_value_and_explain_every_legal_move(name: str) -> None:
    state = GAME.parse_state("x.o/.x./..o")
    agent = load_agent(name, GAME)
    explanation = agent.explain(state)
    assert set(agent.values(state)) == set(explanation.values) == set(state.legal_actions())
    assert explanation.action in state.legal_actions()
    assert explanation.reasons


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("alphazero", "unknown agent 'alphazero' for tic-tac-toe; known agents: random, minimax, mcts"),
        ("minimax:width=3", "unknown setting 'width' of the agent 'minimax'"),
    ],
)
def test_bad_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_agent(name, GAME)


def test_minimax_is_not_offered_where_there_is_chance() -> None:
    assert "minimax" not in agent_names(rookery.load("tenten"))


DEEP = {("checkers", "dqn"), ("morpion", "zero")}  # need PyTorch
VARIANTS = [(game, variant) for game in rookery.GAMES for variant in rookery.load(game).variants]


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_every_agent_that_is_offered_for_a_variant_plays_it(game: str, variant: str) -> None:
    rules = rookery.load(game, variant)
    offered = agent_names(rules, ready=True)
    assert strongest(rules) in offered
    for name in offered:
        if (game, name) in DEEP and find_spec("torch") is None:
            continue
        rng = random.Random(1)
        # The oracle of checkers knows endings only.
        state = (
            rules.parse_state("B:WK30:BK1,K2") if (game, name) == ("checkers", "oracle") else rules.random_start(rng)
        )
        play_chance(state, rng)
        assert load_agent(name, rules).choose(state, rng) in state.legal_actions()


@pytest.mark.parametrize("variant", ["3x3-three", "4x4-seven", "5x5-full"])
def test_small_boards_of_1010_have_a_best_agent_near_the_optimum(variant: str) -> None:
    """Endless, 27,601 and 28.83 mean rounds are the greatest possible; random play lasts 48.5, 14.7 and 7.0."""
    rules = rookery.load("tenten", variant)
    agent, rng, rounds = load_agent("best", rules), random.Random(1), []
    for _ in range(1 if variant != "5x5-full" else 200):
        state = rules.initial_state()
        while state.player() != TERMINAL and state.rounds < 1000:
            play_chance(state, rng)
            if state.player() != TERMINAL:
                state.apply(agent.choose(state, rng))
        rounds.append(state.rounds)
    assert sum(rounds) / len(rounds) > (22 if variant == "5x5-full" else 900)


@pytest.mark.parametrize(
    ("game", "variant", "agent", "shipped"),
    [
        ("tenten", "10x10", "lspi", "tenten/models/lspi-10x10.npz"),
        ("solitaire-chess", "4x4", "dqn", "solitaire_chess/models/4x4-dqn.safetensors"),
        ("solitaire-chess", "solo-8x8", "dqn", "solitaire_chess/models/solo-8x8-dqn.safetensors"),
        ("morpion", "5D", "zero", "morpion/models/5D.safetensors"),
        ("checkers", None, "q-learning", "checkers/models/q-table.npz"),
        ("checkers", None, "td", "checkers/models/td.npz"),
        ("checkers", None, "dqn", "checkers/models/dqn.npz"),
    ],
)
def test_the_folder_of_a_run_is_as_good_as_its_file(
    tmp_path: Path, game: str, variant: str | None, agent: str, shipped: str
) -> None:
    if (game, agent) in DEEP:
        pytest.importorskip("torch")
    rules = rookery.load(game, variant)
    shutil.copy(Path(rookery.__file__).parent / "games" / shipped, tmp_path / method(agent, rules).model)
    state = rules.random_start(random.Random(1))
    while state.player() == CHANCE:
        state.apply(state.legal_actions()[0])
    assert load_agent(agent, rules, tmp_path).values(state) == load_agent(agent, rules).values(state)


def test_paths_are_given_as_text_or_as_paths(tmp_path: Path) -> None:
    game = rookery.load("tenten", "4x4-seven")
    run = rookery.train(game, "lspi", updates=1, out=str(tmp_path / "run"))
    assert run.folder == tmp_path / "run"
    model = tmp_path / "run" / "model.npz"
    assert (lspi.load(str(model), game).weights == lspi.load(model, game).weights).all()
    state = game.parse_state("###./..../..../.... 1x1")
    for path in (tmp_path / "run", model):
        assert load_agent("lspi", game, str(path)).values(state) == load_agent("lspi", game, path).values(state)
    played = rookery.tournament(game, ["random", "lspi"], games=1, out=str(tmp_path / "games"))
    assert all(file.exists() for file in played.export(str(tmp_path / "games")))


class Rated(Agent):
    """Plays what it is told to like.

    And has a second line."""

    def __init__(self, given: dict[int, float]) -> None:
        self.given = given

    def values(self, state: State) -> dict[int, float]:
        return {action: self.given.get(action, -1.0) for action in state.legal_actions()}


START = GAME.initial_state()


def test_moves_of_greatest_value_are_played_equally_often() -> None:
    agent, rng = Rated({1: 0.5, 4: 0.5, 8: 0.25}), random.Random(1)
    counts = Counter(agent.choose(START, rng) for _ in range(400))
    assert set(counts) == {1, 4}
    assert 140 < counts[1] < 260  # six standard deviations
    assert {agent.choose(START) for _ in range(60)} == {1, 4}


def test_an_agent_that_only_chooses_values_its_choice() -> None:
    class Fourth(Agent):
        def choose(self, state: State, rng: random.Random | None = None) -> int:
            assert rng is not None
            return state.legal_actions()[3]

    state = GAME.parse_state("x../.o./...")
    assert Fourth().values(state) == {1: 0.0, 2: 0.0, 3: 0.0, 5: 1.0, 6: 0.0, 7: 0.0, 8: 0.0}
    for ask in (Agent().values, Agent().choose):
        with pytest.raises(NotImplementedError, match="Agent must write `values` or `choose`"):
            ask(state)


def test_an_explanation_names_the_five_best_moves_and_keeps_its_position() -> None:
    state = GAME.initial_state()
    given = {0: 0.5, 1: -0.5, 2: 1.0, 3: 0.0, 4: 0.25, 5: -0.25}
    why = Rated(given).explain(state)
    assert why.action == 2
    assert why.values == why.overlay.values == given | dict.fromkeys((6, 7, 8), -1.0)
    assert why.reasons == ["2: wins", "0: 75%", "4: 62%", "3: even", "5: 38%"]
    state.apply(4)
    assert str(why.state) == ".../.../..."
    drawn = Explanation(state, 1, {}, ["a < b"], drawings=[Drawing("c & d", "<svg>other</svg>", "")])
    html = drawn._repr_html_()
    assert "<li>a &lt; b</li>" in html
    assert "<figure><svg>other</svg><figcaption>c &amp; d</figcaption></figure>" in html
    assert state.svg() in html


def test_an_agent_in_a_notebook_is_its_name_and_the_first_line_about_it() -> None:
    class Silent(Agent):
        __doc__ = None

    assert Rated({})._repr_html_() == "<p><b>Rated</b> Plays what it is told to like.</p>"
    assert Silent()._repr_html_().startswith("<p><b>Silent</b> ")


def test_a_move_is_judged_beside_the_best_one() -> None:
    agent = Rated({0: 0.5, 1: 0.5, 2: 0.25, 3: 0.0})
    assert (agent.judge(START, 1).kind, agent.judge(START, 1).text) == ("good", "1 is a best move: 75%.")
    slower = agent.judge(START, 2)
    assert (slower.kind, slower.text) == ("slower", "2: 62%. Better was 0: 75%.")
    assert [agent.judge(START, action).kind for action in (3, 4)] == ["bad", "bad"], "what was won is won no more"
    lost = Rated(dict.fromkeys(range(9), -0.5) | {7: 0.0})
    assert lost.judge(START, 3).kind == "slower", "there was nothing to win"
    assert lost.judge(START, 7).kind == "good"


def test_a_hint_tells_more_in_every_stage() -> None:
    hint = Rated({0: 0.5, 1: 0.25, 2: 0.0}).hint(START)
    assert hint.sentences == ["There is a move worth a look.", "Play 0.", "0: 75%; 1: 62%; 2: even."]
    assert hint.cells == [[], [], []]
    state = rookery.load("checkers").initial_state()
    action = state.parse_action("11-15")
    touched, lit = state.action_cells(action), state.preview_cells(action)
    hint = Rated({action: 1.0}).hint(state)
    assert hint.sentences[:2] == ["The move begins on the lit square.", "Play 11-15."]
    assert hint.cells == [touched[:1], lit, lit]
    assert len(touched) > 1
    assert not hint.stuck


def test_values_in_words() -> None:
    """A share of the points for two players, as long as it is one; else a number with what it counts."""
    agent, alone = Agent(), rookery.load("tenten", "3x3-three")
    assert [agent.in_words(START, value) for value in (0.9999999, -1e-9, -0.5)] == ["wins", "even", "25%"]
    assert agent.in_words(START, 1.5) == "1.5"
    assert agent.in_words(START, -3.0) == "-3"
    state = alone.initial_state()
    assert agent.in_words(state, 1.0) == f"1 {alone.unit}".rstrip()
    assert agent.in_words(state, 0.0).startswith("0")


def test_people_start_where_the_game_starts() -> None:
    agent, puzzles = Agent(), rookery.load("solitaire-chess", "4x4")
    assert agent.practice_start(GAME, random.Random(1)) == START
    assert agent.practice_start(puzzles, random.Random(1)) == puzzles.random_start(random.Random(1))
    endgames = rookery.load("endgames")
    assert endgames.random_start(random.Random(1)) != endgames.initial_state()
    assert agent.practice_start(endgames, random.Random(1)) == endgames.initial_state()
    assert not agent.accepts_draw(START)
    assert agent.stages() == [agent]


def test_objects_that_choose_are_agents() -> None:
    class Plain:
        def choose(self, state: State) -> str:
            return "4"

    class Random:
        def choose(self, state: State, rng: random.Random) -> int:
            return rng.choice(state.legal_actions())

    class Full(Plain):
        def values(self, state: State) -> list[tuple[int, float]]:
            return [(4, 7.0)]

        def explain(self, state: State) -> str:
            return "because"

    plain, full = as_agent(Plain()), as_agent(Full())
    assert plain.choose(START) == 4
    assert plain.values(START) == {action: float(action == 4) for action in range(9)}
    assert plain.explain(START).action == 4
    assert full.values(START) == {4: 7.0}
    assert str(full.explain(START)) == "because"
    drawn = as_agent(Random())
    assert drawn.choose(START, random.Random(3)) == random.Random(3).choice(range(9))
    assert len({drawn.choose(START) for _ in range(60)}) > 3, "without a source it draws from a fresh one"
    assert as_agent(plain) is plain
    with pytest.raises(ValueError, match=r"an agent has a method choose\(state\), and dict has none"):
        as_agent({})
