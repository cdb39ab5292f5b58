"""Prints the table of speeds and ratios and writes it as JSON; with `--page` also into docs/benchmarks.md.

Single thread, CPU seconds, unless a row says otherwise. Ours and the peer's runs take turns, and each keeps its best of
several, because other work on the machine slows both down in turns. A peer that is not installed is left out, and the
row says so. A peer that has none of our games plays the nearest of its own; such a row promises nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import rookery
from benchmarks.page import put
from rookery.games.endgames import rules as endgames
from rookery.report.text import table
from rookery.search import mcts, perft

Rate = Callable[[], float]
"""Runs once and answers units per CPU second."""


@dataclass(frozen=True)
class Row:
    what: str
    unit: str
    ours: float
    peer: str
    theirs: float | None
    bar: str
    """What we promise: a rate, or a ratio to the peer; "-" for nothing."""
    met: bool | None

    @property
    def ratio(self) -> float | None:
        return None if self.theirs is None else self.ours / self.theirs


def rate(work: Callable[[], float], clock: Callable[[], float] = time.process_time) -> Rate:
    """`work` does a fixed amount and answers how many units it was."""

    def run() -> float:
        begin = clock()
        units = work()
        return units / (clock() - begin)

    return run


def best_of(ours: Rate, theirs: Rate | None, repeats: int = 5) -> tuple[float, float | None]:
    our_rates, their_rates = [], []
    for _ in range(repeats):
        our_rates.append(ours())
        if theirs:
            their_rates.append(theirs())
    return max(our_rates), max(their_rates) if theirs else None


def random_games(
    name: str, variant: str, games: int, threads: int = 1, clock: Callable[[], float] = time.process_time
) -> Rate:
    game = rookery.load(name, variant)
    return rate(lambda: game.random_games(games, seed=1, threads=threads).games, clock)


def open_spiel_games(name: str, games: int) -> Rate | None:
    """Random games as OpenSpiel's Python users play them."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game(name)

    def play() -> float:
        rng = random.Random(1)
        for _ in range(games):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
        return games

    return rate(play)


def python_chess_games(fen: str, games: int) -> Rate | None:
    """Random games with the same ends as ours: mate, stalemate, bare material, threefold repetition."""
    try:
        import chess
    except ImportError:
        return None

    def play() -> float:
        rng = random.Random(1)
        for _ in range(games):
            board = chess.Board(fen)
            while not (board.is_insufficient_material() or board.is_repetition(3)):
                moves = list(board.legal_moves)
                if not moves:
                    break
                board.push(rng.choice(moves))
        return games

    return rate(play)


def search_simulations(simulations: int = 20_000) -> Rate:
    """Monte Carlo tree search with random playouts from the start of checkers."""
    state = rookery.load("checkers").initial_state()

    def search() -> float:
        mcts(state, simulations, seed=1)
        return simulations

    return rate(search)


def open_spiel_simulations(simulations: int = 500) -> Rate | None:
    """The same with OpenSpiel's C++ search, one random playout per simulation."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("checkers")
    state = game.new_initial_state()

    def search() -> float:
        evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
        bot = pyspiel.MCTSBot(game, evaluator, 1.0, simulations, 1000, False, 1, False)
        bot.step(state)
        return simulations

    return rate(search)


BATCH = 1024
"""Environments side by side, ours and the peers'."""


def vector_steps(
    name: str,
    variant: str | None = None,
    games: int = BATCH,
    threads: int = 1,
    steps: int = 200,
    clock: Callable[[], float] = time.process_time,
    **options: Any,
) -> Rate:
    """Random steps with observation, full mask, rewards, autoreset and sampling of legal actions."""
    envs = rookery.vector(rookery.load(name, variant, **options), games, seed=1, threads=threads)

    def play() -> float:
        for _ in range(steps):
            envs.step(envs.sample())
        return steps * games

    play()
    return rate(play, clock)


def open_spiel_steps(name: str, by_hand: bool = False) -> Rate | None:
    """The same loop on OpenSpiel's states from Python, with the same arrays at its end.

    Observation and mask come from `observation_tensor` and `legal_actions_mask`; or `by_hand`, as quick as we could
    make it: through OpenSpiel's `Observation`, which fills an array, and from the list of legal actions.
    """
    try:
        import pyspiel
        from open_spiel.python.observation import make_observation
    except ImportError:
        return None
    game, games, rng = pyspiel.load_game(name), 64, random.Random(1)
    states = [game.new_initial_state() for _ in range(games)]
    legal = [state.legal_actions() for state in states]
    observation = np.zeros((games, game.observation_tensor_size()), np.float32)
    mask = np.zeros((games, game.num_distinct_actions()), np.bool_)
    reward, done = np.zeros((games, game.num_players()), np.float32), np.zeros(games, np.bool_)
    filled = make_observation(game)

    def play() -> float:
        for _ in range(100):
            mask[:] = False
            for i, state in enumerate(states):
                state.apply_action(rng.choice(legal[i]))
                done[i] = state.is_terminal()
                if done[i]:
                    reward[i] = state.returns()
                    state = states[i] = game.new_initial_state()
                legal[i] = state.legal_actions()
                if by_hand:
                    filled.set_from(state, state.current_player())
                    observation[i] = filled.tensor
                    mask[i, legal[i]] = True
                else:
                    observation[i] = state.observation_tensor()
                    mask[i] = state.legal_actions_mask()
        return 100 * games

    return rate(play)


def jax_steps(step: Any, state: Any, mask_of: Callable[[Any], Any], action_of: Callable[[Any], Any]) -> Rate:
    """Random steps of environments written with JAX, compiled as one loop: `step(state, action, keys)` for a batch."""
    import jax
    import jax.numpy as jnp

    def one(carry: Any, _: None) -> tuple[Any, None]:
        state, key = carry
        key, draw, reset = jax.random.split(key, 3)
        mask = mask_of(state).reshape(BATCH, -1)
        action = action_of(jax.random.categorical(draw, jnp.where(mask, 0.0, -jnp.inf), axis=-1))
        return (step(state, action, jax.random.split(reset, BATCH)), key), None

    loop = jax.jit(lambda carry: jax.lax.scan(one, carry, None, length=100)[0])
    carry = jax.block_until_ready(loop((state, jax.random.PRNGKey(1))))

    def play() -> float:
        nonlocal carry
        carry = jax.block_until_ready(loop(carry))
        return 100 * BATCH

    return rate(play)


def pgx_steps(name: str) -> Rate | None:
    try:
        import jax
        import pgx
        from pgx.experimental import auto_reset
    except ImportError:
        return None
    env = pgx.make(name)
    state = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), BATCH))
    step = jax.vmap(auto_reset(env.step, env.init))
    return jax_steps(step, state, lambda state: state.legal_action_mask, lambda action: action)


def jumanji_steps(name: str) -> Rate | None:
    """`name` is a game whose actions are pairs of a mask's row and column."""
    try:
        import jax
        import jax.numpy as jnp
        import jumanji
        from jumanji.wrappers import VmapAutoResetWrapper
    except ImportError:
        return None
    env = VmapAutoResetWrapper(jumanji.make(name))
    columns = env.action_spec.num_values[1]
    start = env.reset(jax.random.split(jax.random.PRNGKey(0), BATCH))
    return jax_steps(
        lambda both, action, _: env.step(both[0], action),
        start,
        lambda both: both[1].observation.action_mask,
        lambda action: jnp.stack([action // columns, action % columns], axis=-1),
    )


def envpool_steps(name: str) -> Rate | None:
    """`name` is a game whose actions are pairs of a mask's row and column."""
    try:
        import envpool
    except ImportError:
        return None
    envs = envpool.make(name, env_type="gymnasium", num_envs=BATCH, num_threads=1)
    rng, first = np.random.default_rng(1), envs.reset()[0]

    def play() -> float:
        mask = first["action_mask"]
        for _ in range(50):
            # A uniformly random legal action: the legal one with the greatest of random numbers.
            action = np.where(mask, rng.random(mask.shape), -1).reshape(BATCH, -1).argmax(axis=1)
            pairs = np.stack(np.divmod(action, mask.shape[2]), axis=1).astype(np.int32)
            mask = envs.step(pairs)[0]["action_mask"]
        return 50 * BATCH

    return rate(play)


def measure() -> list[Row]:
    rows = []

    def at_least(what: str, unit: str, bar: float, ours: Rate, peer: str = "-", theirs: Rate | None = None) -> None:
        rate_ours, rate_theirs = best_of(ours, theirs)
        rows.append(Row(what, unit, rate_ours, peer, rate_theirs, f"{bar:,.0f}/s", rate_ours >= bar))

    def ratio(what: str, unit: str, bar: float, ours: Rate, peer: str, theirs: Rate | None, repeats: int = 5) -> None:
        rate_ours, rate_theirs = best_of(ours, theirs, repeats)
        met = rate_theirs is not None and rate_ours >= bar * rate_theirs
        rows.append(Row(what, unit, rate_ours, peer, rate_theirs, f"{bar:g}x", met))

    def beside(what: str, unit: str, ours: Rate, peer: str, theirs: Rate | None) -> None:
        if theirs:
            rate_ours, rate_theirs = best_of(ours, theirs)
            rows.append(Row(what, unit, rate_ours, peer, rate_theirs, "-", None))

    checkers = rookery.load("checkers").initial_state()
    at_least("checkers: bulk perft, depth 10", "leaves", 40e6, rate(lambda: perft(checkers, 10)))
    ratio(
        "checkers: random games", "games", 40, random_games("checkers", "standard", 50_000),
        "OpenSpiel", open_spiel_games("checkers", 1_000),
    )  # fmt: skip
    at_least("morpion: uniform 5D playouts", "games", 350_000, random_games("morpion", "5D", 200_000))
    ratio(
        "morpion: uniform 4D playouts", "games", 100, random_games("morpion", "4D", 200_000),
        "OpenSpiel", open_spiel_games("morpion_solitaire", 200),
    )  # fmt: skip
    tenten = rookery.load("tenten", "10x10")
    at_least(
        "1010!: random placements, 10x10", "placements", 10e6,
        rate(lambda: float(tenten.random_games(100_000, seed=1, threads=1).lengths.sum())),
    )  # fmt: skip
    fen = str(endgames.Endgames(material="KRK").initial_state())
    ratio(
        "endgames: random KRK games", "games", 100, random_games("endgames", "KRK", 20_000),
        "python-chess", python_chess_games(fen, 20),
    )  # fmt: skip

    ratio(
        "checkers: Monte Carlo tree search with random playouts", "simulations", 10, search_simulations(),
        "OpenSpiel's MCTSBot in C++", open_spiel_simulations(),
    )  # fmt: skip
    # Many short runs, because two cores must be free at once.
    ratio(
        "checkers: random games on two threads, wall clock", "games", 1.6,
        random_games("checkers", "standard", 20_000, 2, time.perf_counter),
        "one thread", random_games("checkers", "standard", 20_000, 1, time.perf_counter), repeats=40,
    )  # fmt: skip

    checkers_steps, tenten_steps = vector_steps("checkers"), vector_steps("tenten", "10x10")
    ratio("environments: checkers", "steps", 100, checkers_steps, "OpenSpiel", open_spiel_steps("checkers"))
    at_least("environments: checkers", "steps", 3e6, checkers_steps)
    at_least("environments: 1010!, 10x10", "steps", 2e6, tenten_steps)
    at_least("environments: morpion 5D, 24x24", "steps", 1e6, vector_steps("morpion", "5D", board=24))
    at_least("environments: Solitaire Chess, 4x4", "steps", 3e6, vector_steps("solitaire-chess", "4x4"))
    at_least("environments: endgames, KRK", "steps", 3e6, vector_steps("endgames", "KRK"))
    wall: dict[str, Any] = {"games": 4096, "steps": 10, "clock": time.perf_counter}
    ratio(
        "environments: 4,096 of checkers on two threads, wall clock", "steps", 1.8,
        vector_steps("checkers", threads=2, **wall), "one thread", vector_steps("checkers", **wall), repeats=200,
    )  # fmt: skip
    beside(
        "environments: checkers", "steps", checkers_steps, "OpenSpiel, written by hand",
        open_spiel_steps("checkers", by_hand=True),
    )  # fmt: skip
    # Other games: the nearest that these libraries have.
    beside("environments: checkers", "steps", checkers_steps, "Pgx, which plays Othello", pgx_steps("othello"))
    for peer, theirs in (("Jumanji", jumanji_steps("Tetris-v0")), ("EnvPool", envpool_steps("Tetris-v0"))):
        beside("environments: 1010!, 10x10", "steps", tenten_steps, f"{peer}, which plays Tetris", theirs)
    return rows


def page_table(rows: list[Row]) -> str:
    """The table of docs/benchmarks.md."""
    lines = ["| what | Rookery, per second | beside | times as fast |", "|---|---|---|---|"]
    for row in rows:
        beside = (row.peer, f"{row.ratio:,.1f}") if row.ratio is not None else ("", "")
        lines.append(f"| {row.what} | {row.ours:,.0f} {row.unit} | {' | '.join(beside)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("reports/benchmarks.json"))
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    out = arguments.out
    rows = measure()
    shown = [
        (
            row.what,
            f"{row.ours:,.0f} {row.unit}/s",
            "-" if row.ratio is None else f"{row.ratio:,.1f} times {row.peer}",
            row.bar,
            {True: "yes", False: "NO", None: "-"}[row.met],
        )
        for row in rows
    ]
    print("Single thread, per CPU second, unless a row says otherwise")
    print(table(("what", "ours", "beside a peer", "bar", "met"), shown, shutil.get_terminal_size().columns))
    out.parent.mkdir(parents=True, exist_ok=True)
    machine = {"processor": platform.processor() or platform.machine(), "python": platform.python_version()}
    data = {"machine": machine, "version": rookery.__version__, "rows": [asdict(r) | {"ratio": r.ratio} for r in rows]}
    out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(f"written to {out}")
    if arguments.page:
        put("benchmarks.md", "make bench", page_table(rows))


if __name__ == "__main__":
    main()
