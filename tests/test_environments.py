"""Games side by side are the same games one by one."""

from __future__ import annotations

import io
import random
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rookery as rk
from rookery.game import CHANCE, TERMINAL, play_chance
from tests.tic_tac_toe import TicTacToe

ARRAYS = ("observation", "mask", "reward", "done", "player", "length")


class Race(rk.Game):
    """A game with everything: two players, rewards on the way, chance before and after the moves, fractions to see.

    A die says how far the move may go; who moves earns the squares gone from the other. Ten squares end it.
    """

    name = "race"
    players = 2
    num_actions = 6
    observation_shape = (4,)

    def initial_state(self) -> RaceState:
        return RaceState(self)


class RaceState(rk.State):
    def __init__(self, game: Race) -> None:
        self._game, self.mover, self.square, self.die, self.last, self.total = game, 0, 0, -1, 0.0, 0.0

    @property
    def game(self) -> Race:
        return self._game

    def player(self) -> int:
        return TERMINAL if self.square >= 10 else CHANCE if self.die < 0 else self.mover

    def legal_actions(self) -> list[int]:
        return list(range(1, self.die + 1)) if self.player() >= 0 else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(i, 1 / 3) for i in (1, 2, 3)] if self.player() == CHANCE else []

    def apply(self, action: int) -> None:
        if self.player() == CHANCE:
            self.die, self.last = action, 0.0
        else:
            self.square += action
            self.last = float(action if self.mover == 0 else -action)
            self.total += self.last
            self.mover, self.die = 1 - self.mover, -1

    def clone(self) -> RaceState:
        other = RaceState(self._game)
        other.__dict__.update(self.__dict__)
        return other

    def rewards(self) -> list[float]:
        return [self.last, -self.last]

    def returns(self) -> list[float]:
        return [self.total, -self.total] if self.player() == TERMINAL else [0.0, 0.0]

    def key(self) -> bytes:
        return bytes([self.mover, self.square, self.die + 1])

    def observation(self) -> np.ndarray:
        return np.array([self.mover, self.square, max(self.die, 0), self.square / 16], np.float32)

    def __str__(self) -> str:
        return f"{self.mover} {self.square} {self.die}"


GAMES = [
    rk.load("checkers"),
    rk.load("endgames", repetition=2),
    rk.load("morpion", board=16),
    rk.load("morpion", "4T", board=12),
    rk.load("solitaire-chess"),
    rk.load("solitaire-chess", "solo-8x8"),
    rk.load("tenten", "4x4-seven"),
    rk.load("tenten", "4x4-seven", hand=2),
    TicTacToe(),
    Race(),
]
FOR_TWO = [game for game in GAMES if game.players == 2]


def name_of(game: Any) -> str:
    return f"{game.name}-{game.num_actions}" if isinstance(game, rk.Game) else str(game)


class Mirror:
    """One game of a batch, played on a state in plain Python. What chance and a random opponent did is found by what
    the batch shows."""

    def __init__(
        self, game: rk.Game, at_end: bool = False, opponent: Any = None, start: rk.State | None = None
    ) -> None:
        self.game, self.at_end, self.opponent = game, at_end, opponent
        self.state, self.learner, self.length = (start or game.initial_state()).clone(), 0, 0
        self.earned = np.zeros(game.players)

    def apply(self, action: int) -> None:
        self.state.apply(action)
        self.earned += self.state.rewards()

    def others(self) -> list[int]:
        """What chance or the opponent may do; nothing if the learner is to move or the game is over."""
        player = self.state.player()
        if player == CHANCE:
            return [outcome for outcome, probability in self.state.chance_outcomes() if probability > 0]
        if self.opponent is None or player in (TERMINAL, self.learner):
            return []
        return self.state.legal_actions() if self.opponent == "random" else [self.opponent.choose(self.state)]

    def follow(self, shown: np.ndarray) -> bool:
        """Let chance and the opponent act until the position is the one shown; whether there is a way."""
        actions = self.others()
        if not actions:
            return np.array_equal(self.state.observation(), shown)
        before, earned = self.state, self.earned
        for action in actions:
            self.state, self.earned = before.clone(), earned.copy()
            self.apply(action)
            if self.follow(shown):
                return True
        return False

    def take_reward(self) -> np.ndarray:
        over = self.state.player() == TERMINAL
        given = (
            (np.array(self.state.returns()) if over else np.zeros(self.game.players)) if self.at_end else self.earned
        )
        self.earned = np.zeros(self.game.players)
        return given if self.opponent is None else given[self.learner :][:1]


def compare(envs: rk.Vector, opponent: Any, at_end: bool, next_step: bool, steps: int) -> int:
    """Play random actions in the batch and in mirrors of its games; answers how many games ended."""
    game, ended = envs.game, 0
    mirrors: list[Mirror] = []

    def begin(i: int) -> Mirror:
        mirror = Mirror(game, at_end, opponent)
        mirror.learner = int(envs.player[i])
        assert mirror.follow(envs.observation[i])
        return mirror

    mirrors = [begin(i) for i in range(len(envs))]
    for step in range(steps):
        for i, mirror in enumerate(mirrors):
            state = mirror.state
            assert np.array_equal(envs.observation[i], state.observation())
            assert np.array_equal(envs.mask[i], state.legal_mask())
            assert envs.player[i] == (state.player() if opponent is None else mirror.learner)
            assert envs.length[i] == mirror.length
            assert envs.state(i) == state
            assert envs.state(i).rewards() == state.rewards()
        live = [mirror.state.player() != TERMINAL for mirror in mirrors]
        actions = envs.sample()
        assert envs.mask[live, actions[live]].all()
        assert not actions[np.invert(live)].any()
        envs.step(actions.astype(np.int64) if step % 2 else actions)
        for i, mirror in enumerate(mirrors):
            if not live[i]:  # its action is ignored
                mirrors[i] = begin(i)
                assert not envs.done[i]
                assert not envs.reward[i].any()
                continue
            mirror.apply(int(actions[i]))
            mirror.length += 1
            assert mirror.follow(envs.final_observation[i] if envs.done[i] else envs.observation[i])
            assert envs.reward[i].tolist() == mirror.take_reward().tolist()
            assert envs.done[i] == (mirror.state.player() == TERMINAL)
            if envs.done[i]:
                ended += 1
                if not next_step:
                    mirrors[i] = begin(i)
    return ended


@pytest.mark.parametrize("game", GAMES, ids=name_of)
@pytest.mark.parametrize(("reward", "autoreset"), [("steps", "same"), ("end", "next")])
def test_every_step_is_that_of_the_state(game: rk.Game, reward: Any, autoreset: Any) -> None:
    dtype: Any = "uint8" if autoreset == "next" and game.num_actions not in (4096, 6) else "float32"
    envs = rk.vector(game, 3, seed=5, reward=reward, autoreset=autoreset, dtype=dtype)
    assert envs.observation.dtype == dtype
    assert envs.observation.shape == (3, *game.observation_shape)
    assert compare(envs, None, reward == "end", autoreset == "next", steps=150) > 2


class Lowest:
    """Plays the lowest action."""

    def choose(self, state: rk.State) -> int:
        return min(state.legal_actions())


@pytest.mark.parametrize("game", FOR_TWO, ids=name_of)
@pytest.mark.parametrize("opponent", ["random", Lowest()], ids=["random", "asked"])
@pytest.mark.parametrize("autoreset", ["same", "next"])
def test_an_opponent_makes_an_environment_for_one(game: rk.Game, opponent: Any, autoreset: Any) -> None:
    envs = rk.vector(game, 4, seed=2, autoreset=autoreset, opponent=opponent)
    assert envs.reward.shape == (4, 1)
    assert compare(envs, opponent, False, autoreset == "next", steps=60) > 2


def test_the_learner_has_both_sides() -> None:
    drawn = [rk.vector(TicTacToe(), 40, seed=seed, opponent="random").player.mean() for seed in range(3)]
    assert all(0.2 < share < 0.8 for share in drawn)
    envs = rk.vector(TicTacToe(), 4, opponent="random", opponent_side=0)
    assert envs.player.tolist() == [1] * 4
    assert [sum(state.cells != "." for state in [envs.state(i)]) for i in range(4)] == [1] * 4
    shares = np.zeros(2)
    envs = rk.vector(rk.load("checkers"), 100, opponent="random", opponent_side=1)
    for _ in range(300):
        envs.step(envs.sample())
        assert not envs.player.any()
        shares += [(envs.reward > 0).sum(), (envs.reward < 0).sum()]
    assert 0.8 < shares[0] / shares[1] < 1.25


@pytest.mark.parametrize("game", GAMES, ids=name_of)
def test_results_do_not_depend_on_threads(game: rk.Game) -> None:
    opponent = "random" if game.players == 2 else None
    one, two = (rk.vector(game, 150, seed=3, threads=threads, opponent=opponent) for threads in (1, 4))
    for _ in range(30):
        actions = one.sample()
        assert np.array_equal(actions, two.sample())
        one.step(actions)
        two.step(actions)
        for name in ARRAYS:
            assert np.array_equal(getattr(one, name), getattr(two, name)), name
    two.reset(seed=4)
    first = two.sample()
    two.step(first)
    two.reset(seed=4)
    assert np.array_equal(two.sample(), first)
    one.reset(seed=5)
    assert not np.array_equal(one.sample(), first)
    assert one.steps == 0
    assert not one.done.any()
    assert not one.length.any()


def test_chance_has_the_right_shares() -> None:
    game = rk.load("tenten", "3x3-three")
    envs = rk.vector(game, 6000, seed=1)
    shapes, counts = np.unique(envs.observation[:, 1].reshape(6000, -1), axis=0, return_counts=True)
    assert len(shapes) == 3
    assert np.all(np.abs(counts / 6000 - 1 / 3) < 0.03)


def test_games_begin_where_they_should() -> None:
    game = rk.load("solitaire-chess")
    texts = ["R.../.B../..N./P...", "R.../..../..../Q...", "...B/..N./.P../R..."]
    envs = rk.vector(game, 3000, seed=1, starts=[texts[0], game.parse_state(texts[1]), texts[2]])
    starts = [str(envs.state(i)) for i in range(3000)]
    assert all(abs(starts.count(text) / 3000 - 1 / 3) < 0.04 for text in texts)
    for _ in range(20):
        envs.step(envs.sample())
    assert {str(envs.state(i).start) for i in range(3000)} == set(texts)

    envs = rk.vector(rk.load("endgames"), 200, starts="random")
    assert len({str(envs.state(i)) for i in range(200)}) > 150
    envs = rk.vector(game, 100, starts="puzzles:beginner")
    assert all(envs.state(i).pieces in (4, 5) for i in range(100))
    assert rk.vector(rk.load("solitaire-chess", "solo-8x8"), 2, starts="puzzles").state(0).pieces == 12
    for place, message in {
        "puzzles:solo": "puzzles of the level solo are for the variant solo-8x8",
        "puzzles:none": "unknown level 'none'",
        "somewhere": "starts is 'initial', 'random', 'puzzles', 'puzzles:LEVEL' or a list of positions",
    }.items():
        with pytest.raises(ValueError, match=message):
            rk.vector(game, 2, starts=place)
    for wrong, message in {
        (): "the list of positions to start from is empty",
        (rk.load("checkers").initial_state(),): "is not a position of SolitaireChess",
        ("...R/..../..../....",): "the game is over at the start",
    }.items():
        with pytest.raises(ValueError, match=message):
            rk.vector(game, 2, starts=wrong)
    with pytest.raises(ValueError, match="tenten has no puzzles"):
        rk.vector(rk.load("tenten"), 2, starts="puzzles")


def test_the_history_of_a_start_counts() -> None:
    """A start may lie in the middle of a game: its history ends the new game by the rules, and is told."""
    game = rk.load("checkers", repetition=3, forty_move_rule=False, quiet_limit=0)
    state = game.parse_state("B:WK32:BK1")
    for move in ("1-5", "32-27", "5-1", "27-32", "1-5", "32-27", "5-1"):
        state.apply(state.parse_action(move))
    envs = rk.vector(game, 2, starts=[state])
    actions = [state.parse_action("27-32"), state.parse_action("27-23")]
    envs.step(actions)
    assert envs.done.tolist() == [True, False]
    assert envs.state(1).actions == [*state.actions, actions[1]]
    assert str(envs.state(1).start) == "B:WK32:BK1"


def settings() -> Iterator[Any]:
    for game in GAMES:
        yield pytest.param(game, {"starts": "random"}, id=name_of(game))
        yield pytest.param(game, {"autoreset": "next"}, id=f"{name_of(game)}-next")
    for game in FOR_TWO:
        for opponent in ("random", Lowest()):
            kind = "random" if opponent == "random" else "asked"
            yield pytest.param(game, {"opponent": opponent}, id=f"{name_of(game)}-{kind}")


@pytest.mark.parametrize(("game", "options"), list(settings()))
def test_a_restored_batch_continues_bit_for_bit(game: rk.Game, options: dict[str, Any]) -> None:
    envs = rk.vector(game, 20, seed=7, **options)
    for _ in range(25):
        envs.step(envs.sample())
    file = io.BytesIO()
    saved: dict[str, Any] = envs.save()
    np.savez(file, **saved)
    file.seek(0)
    # The pool of starts depends on the seed, the rest is restored.
    other = rk.vector(game, 20, seed=7 if "starts" in options else 8, **options)
    for _ in range(9):
        other.step(other.sample())
    with np.load(file, allow_pickle=False) as saved:
        other.restore(saved)
    for _ in range(60):
        assert other.steps == envs.steps
        for name in ARRAYS:
            assert np.array_equal(getattr(other, name), getattr(envs, name)), name
        assert np.array_equal(other.final_observation[other.done], envs.final_observation[envs.done])
        assert other.state(3).actions == envs.state(3).actions if hasattr(other.state(3), "actions") else True
        actions = envs.sample()
        assert np.array_equal(other.sample(), actions)
        envs.step(actions)
        other.step(actions)


def test_what_was_not_saved_here_is_refused_whole() -> None:
    game = rk.load("checkers")
    envs = rk.vector(game, 3, seed=1)
    for _ in range(5):
        envs.step(envs.sample())
    saved = envs.save()
    envs.step(envs.sample())
    before = envs.observation.copy()

    def refuse(message: str, **changed: Any) -> None:
        with pytest.raises(ValueError, match=message):
            envs.restore({**saved, **changed})
        assert np.array_equal(envs.observation, before)

    message = "these are not games saved from this environment"
    actions = saved["actions"].copy()
    actions[-1] = 1425
    refuse(message, actions=actions)
    refuse(message, actions=actions[:-1])
    refuse(message, starts=saved["starts"] + 1)
    refuse(message, starts=saved["starts"] - 1)
    refuse(message, offsets=saved["offsets"][::-1])
    refuse(message, offsets=saved["offsets"] - 1)
    refuse(message, streams=saved["streams"] * 0)
    refuse(message, learners=saved["learners"] + 2)
    refuse(message, reward=saved["reward"][:2])
    refuse(message, done=~saved["done"])
    refuse(message, final_observation=saved["final_observation"][..., :7])
    with pytest.raises(ValueError, match=message):
        envs.restore({name: value for name, value in saved.items() if name != "streams"})
    for other in (rk.vector(game, 3, reward="end"), rk.vector(rk.load("checkers", "wcdf"), 3)):
        with pytest.raises(ValueError, match="the batch was saved from"):
            other.restore(saved)


def test_what_is_not_legal_is_refused_whole() -> None:
    envs = rk.vector(rk.load("checkers"), 4)
    before = envs.observation.copy()
    actions = envs.sample().astype(np.int64)
    good = int(actions[2])
    envs.mask[:] = True  # what is legal is not read off the array
    for wrong in (-1, 1426, 5, good + 2**32):
        actions[2] = wrong
        with pytest.raises(ValueError, match=f"action {wrong} is not legal in game 2"):
            envs.step(actions)
    with pytest.raises(ValueError, match="expected one action per game"):
        envs.step(actions[:3])
    with pytest.raises(ValueError, match="actions are whole numbers, not float64"):
        envs.step(actions * 1.0)
    assert np.array_equal(envs.observation, before)
    for game in (rk.load("morpion", board=16), TicTacToe()):
        other = rk.vector(game, 2)
        actions = other.sample().astype(np.int64)
        for wrong in (-1, game.num_actions, 2**32 + int(actions[1])):
            with pytest.raises(ValueError, match=f"action {wrong} is not legal in game 1"):
                other.step([int(actions[0]), wrong])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"games": 0}, "the number of games must be from 1 to 10"),
        ({"seed": -1}, "a seed is a whole number from 0 to"),
        ({"threads": -1}, "the number of threads must not be negative"),
        ({"reward": "often"}, "reward is one of 'steps', 'end', not 'often'"),
        ({"autoreset": "never"}, "autoreset is one of 'same', 'next', not 'never'"),
        ({"dtype": "float64"}, "dtype is one of 'float32', 'uint8', not 'float64'"),
        ({"opponent": "nobody"}, "unknown agent 'nobody' for checkers"),
        ({"opponent": "random", "opponent_side": 2}, "opponent_side is one of None, 0, 1, not 2"),
    ],
)
def test_bad_settings_are_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rk.vector(rk.load("checkers"), **{"games": 2, **options})


def test_fractions_are_no_bytes() -> None:
    message = "this game's observations are not whole numbers from 0 to 255; use float32"
    with pytest.raises(ValueError, match=message):
        rk.vector(rk.load("solitaire-chess", "solo-8x8"), 2, dtype="uint8")
    envs = rk.vector(Race(), 2, dtype="uint8")  # nobody can know before the first fraction
    with pytest.raises(ValueError, match=message):
        envs.step(envs.sample())


def test_only_games_for_two_have_an_opponent() -> None:
    with pytest.raises(ValueError, match="tenten is a game for one player"):
        rk.vector(rk.load("tenten"), 2, opponent="random")


class Cheat:
    def choose(self, state: rk.State) -> int:
        return -1


def test_an_opponent_that_does_not_move_stops_the_batch() -> None:
    with pytest.raises(ValueError, match="the opponent chose action -1, which is not legal in game 0"):
        rk.vector(rk.load("checkers"), 2, opponent=Cheat(), opponent_side=0)
    envs = rk.vector(rk.load("checkers"), 2, opponent=Cheat(), opponent_side=1)
    with pytest.raises(ValueError, match="the opponent chose action -1, which is not legal in game 0"):
        envs.step(envs.sample())
    for call in (lambda: envs.step(envs.sample()), envs.save):
        with pytest.raises(RuntimeError, match="the opponent did not move; reset the games"):
            call()
    envs.reset()
    assert envs.save()["actions"].size == 0


def test_sampling_while_the_opponent_is_stuck() -> None:
    """The opponent stops at the start of the game after the one that is shown as over, so that nothing is legal."""

    class Stuck:
        moves = 1

        def choose(self, state: rk.State) -> int:
            self.moves -= 1
            return state.legal_actions()[0] if self.moves >= 0 else -1

    # One move each, and the learner has won.
    envs = rk.vector(rk.load("checkers"), 1, starts=["B:W14:B5"], opponent=Stuck(), opponent_side=0, autoreset="next")
    envs.step(envs.sample())
    assert envs.done.all()
    with pytest.raises(ValueError, match="the opponent chose action -1"):
        envs.step([0])
    assert envs.sample().tolist() == [0]
    assert not envs.mask.any()


def test_games_that_are_over_before_the_learner_moves_are_not_shown() -> None:
    """Of these two starts, one lets the opponent take the last piece at once."""
    game = rk.load("checkers")
    lost, live = "B:W9:B5", "B:W29,30,31:B1,2,3"
    envs = rk.vector(game, 50, starts=[lost, live], opponent="random", opponent_side=0)
    assert {str(envs.state(i).start) for i in range(50)} == {str(game.parse_state(live))}
    with pytest.raises(ValueError, match="the games are over before the learner's first move"):
        rk.vector(game, 2, starts=[lost], opponent="random", opponent_side=0)


def test_asked_opponents_have_the_streams_of_their_games() -> None:
    class Dice:
        def choose(self, state: rk.State, rng: random.Random) -> int:
            return rng.choice(state.legal_actions())

    batches = [rk.vector(rk.load("checkers"), games, seed=3, opponent=Dice()) for games in (4, 6)]
    for _ in range(30):
        for envs in batches:
            envs.step(envs.sample())
    assert np.array_equal(batches[0].observation, batches[1].observation[:4])


def test_other_threads_run_during_a_step() -> None:
    ticks, stop = [0], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0.0002)

    envs = rk.vector(rk.load("checkers"), 50_000, threads=1)
    interval = sys.getswitchinterval()
    other = threading.Thread(target=tick)
    try:
        sys.setswitchinterval(1000)  # nobody is made to give way, so that only a call that lets others run does
        other.start()
        for _ in range(50):
            actions = envs.sample()
            before = ticks[0]
            envs.step(actions)
            if ticks[0] > before:
                break
        else:
            pytest.fail("no other thread ran")
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        other.join()


def test_arrays_outlive_the_environment() -> None:
    mask = rk.vector(rk.load("checkers"), 4).mask
    assert mask.sum() == 28


def test_the_arrays_never_move() -> None:
    envs = rk.vector(rk.load("tenten", "4x4-seven"), 8, threads=2)
    where = {name: getattr(envs, name).ctypes.data for name in (*ARRAYS, "final_observation")}
    saved = envs.save()
    for _ in range(30):
        envs.step(envs.sample())
    envs.reset(1)
    envs.restore(saved)
    assert where == {name: getattr(envs, name).ctypes.data for name in where}


def test_a_python_loop_on_states_gets_the_same_scores() -> None:
    """Means over many games: the batch is not biased towards short ones by anything but when they end."""
    game, rng = rk.load("tenten", "4x4-seven"), random.Random(1)
    lengths = []
    for _ in range(300):
        state, length = game.initial_state(), 0
        play_chance(state, rng)
        while state.player() != TERMINAL:
            state.apply(rng.choice(state.legal_actions()))
            play_chance(state, rng)
            length += 1
        lengths.append(length)
    envs = rk.vector(game, 300, seed=1)
    first = np.zeros(300)
    while not first.all():
        after = envs.length + 1
        envs.step(envs.sample())
        first = np.where((first == 0) & envs.done, after, first)
    error = np.hypot(np.std(lengths), np.std(first)) / np.sqrt(300)
    assert abs(np.mean(lengths) - first.mean()) < 4 * error


@pytest.mark.parametrize("autoreset", ["same", "next"])
@pytest.mark.parametrize(("name", "opponent"), [("checkers", None), ("checkers", "random"), ("morpion", None)])
def test_what_is_not_legal_may_lose(name: str, opponent: str | None, autoreset: str) -> None:
    options: dict[str, Any] = {"board": 16} if name == "morpion" else {}
    game = rk.load(name, **options)
    envs = rk.vector(game, 40, seed=2, autoreset=autoreset, opponent=opponent, illegal="lose")  # type: ignore[arg-type]
    for _ in range(3):
        envs.step(envs.sample())
    before, player, first = envs.observation.copy(), envs.player.copy(), rk.vector(game, 1).observation[0]
    wrong = np.arange(40) % 3 == 0
    actions = np.where(wrong, np.where(np.arange(40) % 2, -1, 2**40), envs.sample())
    envs.step(actions)
    assert np.array_equal(envs.done, wrong)
    assert np.array_equal(envs.final_observation[wrong], before[wrong])
    for i in np.flatnonzero(wrong):
        lost = [-1.0] if envs.reward.shape[1] == 1 else [-1.0, 1.0] if player[i] == 0 else [1.0, -1.0]
        assert envs.reward[i].tolist() == lost
    if autoreset == "next":
        assert np.array_equal(envs.observation[wrong], before[wrong])
        assert not envs.mask[wrong].any()
        assert opponent or (envs.player[wrong] == TERMINAL).all()
        other = rk.vector(game, 40, autoreset="next", opponent=opponent, illegal="lose")
        other.restore(envs.save())
        assert np.array_equal(other.mask, envs.mask)
        assert np.array_equal(other.player, envs.player)
        assert np.array_equal(other.length, envs.length)
        envs.step(envs.sample())
        other.step(other.sample())
        assert np.array_equal(other.observation, envs.observation)
        assert not envs.reward[wrong].any()
    assert envs.mask[wrong].any(axis=1).all()
    assert opponent or (envs.observation[wrong] == first).all()
    assert (envs.length[wrong] == 0).all()
    for _ in range(5):
        envs.step(envs.sample())
    for number in range(40):
        assert np.array_equal(envs.mask[number], envs.state(number).legal_mask())
