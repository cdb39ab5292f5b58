"""The conformance test for games: ours, and yours.

from rookery.testing import check_game
check_game(MyGame())
"""

from __future__ import annotations

import copy
import pickle
import random
from xml.etree import ElementTree

import numpy as np

from rookery.game import CHANCE, TERMINAL, Game, Overlay, State
from rookery.search import perft
from rookery.symmetry import Symmetry


def check_game(game: Game, games: int = 10, seed: int = 0, max_length: int = 1000) -> None:
    """Play random games and raise AssertionError where a promise of `Game` or `State` is broken."""
    rng = random.Random(seed)
    _check_attributes(game)
    first, second = game.initial_state(), game.initial_state()
    assert first.key() == second.key(), "initial_state() must always give the same position"
    seen: dict[bytes, State] = {}
    for number in range(games):
        state = game.initial_state() if number % 2 == 0 else game.random_start(rng)
        rewards = np.zeros(game.players)
        for step in range(max_length):
            _check_state(game, state, rng)
            _check_key(state, seen)
            if state.player() == TERMINAL:
                assert step == 0 or np.allclose(rewards, state.returns()), "the rewards must add up to the returns"
                break
            state.apply(_random_step(state, rng))
            rewards += state.rewards()
        _check_values(game, state)
    _check_batches(game)
    _check_symmetries(game, rng, games, max_length)


def _check_attributes(game: Game) -> None:
    assert game.name, "a game needs a name"
    assert game.players in (1, 2), "a game has 1 or 2 players"
    assert game.num_actions > 0, "num_actions must be positive"
    assert isinstance(game.observation_shape, tuple), "observation_shape must be a tuple"


def _check_values(game: Game, state: State) -> None:
    """Check that a game and a state are equal to their copies, also those that come from another process."""
    copies = [copy.copy(state), copy.deepcopy(state), state.clone()]
    # A class inside a function has no name by which another process could find it.
    if "<locals>" not in type(game).__qualname__ + type(state).__qualname__:
        assert pickle.loads(pickle.dumps(game)) == game, "a pickled game must equal its original"
        copies.append(pickle.loads(pickle.dumps(state)))
    for other in copies:
        assert other is not state, "a copy must be another object"
        assert other == state, f"a copy must equal its original: {other} and {state}"
        assert hash(other) == hash(state), "equal states must have equal hashes"
        assert hash(other.game) == hash(game), "equal games must have equal hashes"
        assert (str(other), other.player(), other.returns()) == (str(state), state.player(), state.returns())
    assert state != object(), "a state equals other states only"
    for value in (game, state):
        assert " object at 0x" not in repr(value), "repr() must say which game or position it is"


def _random_step(state: State, rng: random.Random) -> int:
    if state.player() == CHANCE:
        outcomes, weights = zip(*state.chance_outcomes(), strict=True)
        return int(rng.choices(outcomes, weights)[0])
    return rng.choice(state.legal_actions())


def _check_state(game: Game, state: State, rng: random.Random) -> None:
    player, actions = state.player(), state.legal_actions()
    assert state.game is game, "state.game must be the game it came from"
    assert player in (CHANCE, TERMINAL, *range(game.players)), f"unknown player {player}"
    if player == CHANCE:
        outcomes = state.chance_outcomes()
        assert abs(sum(p for _, p in outcomes) - 1) < 1e-9, "chance probabilities must add up to 1"
        assert all(0 <= a < game.num_actions for a, _ in outcomes), "chance outcomes are action ids too"
    else:
        assert state.chance_outcomes() == [], "only chance nodes have chance outcomes"
    assert bool(actions) == (player >= 0), "a player to move has actions, and nobody else"
    assert len(set(actions)) == len(actions), "an action is listed twice"
    assert all(0 <= a < game.num_actions for a in actions), "an action id is out of range"
    names = [state.action_name(a) for a in actions]
    assert len(set(names)) == len(names), f"two actions have one name in {state}"
    assert all(state.parse_action(state.action_name(a)) == a for a in rng.sample(actions, min(5, len(actions)))), (
        f"parse_action must read what action_name writes in {state}"
    )
    mask = state.legal_mask()
    assert mask.shape == (game.num_actions,), "legal_mask() has one entry per action"
    assert mask.dtype == np.bool_, "legal_mask() is an array of bools"
    assert np.flatnonzero(mask).tolist() == sorted(actions), "legal_mask() must mark the legal actions"
    assert len(state.rewards()) == game.players, "rewards() gives one number per player"
    assert all(cell >= 0 for a in actions for cell in state.action_cells(a)), "cells are numbered from 0"
    returns = state.returns()
    assert len(returns) == game.players, "returns() gives one number per player"
    if player != TERMINAL:
        assert not any(returns), "returns() are zeros before the end"
    elif game.players == 2:
        assert abs(sum(returns)) < 1e-9, "two players' returns add up to zero"
    if player == TERMINAL and game.best_return is not None:
        assert returns[0] <= game.best_return, f"a return of {returns[0]} is above best_return"
    observation = state.observation()
    assert observation.shape == game.observation_shape, "the observation has another shape than promised"
    assert observation.dtype == np.float32, "observations are float32"
    least, most = game.observation_range
    assert least <= observation.min(), (
        f"the observation holds {observation.min()}, and observation_range is from {least}"
    )
    assert observation.max() <= most, f"the observation holds {observation.max()}, and observation_range is to {most}"
    _check_text_and_drawing(game, state)
    _check_illegal_actions(game, state, rng)
    if player != TERMINAL:
        _check_clone(state, rng)


def _check_text_and_drawing(game: Game, state: State) -> None:
    parsed = game.parse_state(str(state))
    assert parsed.key() == state.key(), f"parse_state(str(state)) is another position: {state} became {parsed}"
    assert str(parsed) == str(state), f"the text changes when parsed: {state} became {parsed}"
    values = {action: float(i) for i, action in enumerate(state.legal_actions()[:3])}
    for drawing in (state.svg(), state.svg(Overlay(values=values))):
        ElementTree.fromstring(drawing)


def _check_illegal_actions(game: Game, state: State, rng: random.Random) -> None:
    legal = set(state.legal_actions()) | {a for a, _ in state.chance_outcomes()}
    before = str(state), state.key()
    for action in (-1, game.num_actions, 2**31, 2**70, rng.randrange(game.num_actions)):
        if action in legal:
            continue
        try:
            state.apply(action)
        except ValueError:
            assert (str(state), state.key()) == before, "a refused action must change nothing"
        else:
            raise AssertionError(f"illegal action {action} was accepted in {before[0]}")


def _check_clone(state: State, rng: random.Random) -> None:
    before = str(state), state.key()
    copy = state.clone()
    assert (str(copy), copy.key()) == before, "a clone must equal its original"
    copy.apply(_random_step(copy, rng))
    assert (str(state), state.key()) == before, "playing on a clone must not touch the original"


def _check_key(state: State, seen: dict[bytes, State]) -> None:
    known = seen.setdefault(state.key(), state.clone())
    ends = TERMINAL in (state.player(), known.player())
    if ends and state.game.history_matters:
        return
    same = known.player() == state.player() and sorted(known.legal_actions()) == sorted(state.legal_actions())
    assert same, f"equal keys, unequal positions: {known} and {state}; if the rules look back, set history_matters"
    if ends and type(state).rewards is State.rewards:
        assert known.returns() == state.returns(), f"equal keys, unequal returns: {known} and {state}"


def _check_batches(game: Game) -> None:
    one, two = (game.random_games(130, seed=5, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.lengths, two.lengths), "random games depend on the number of threads"
    assert np.array_equal(one.returns, two.returns), "random games depend on the number of threads"
    state = game.initial_state()
    choices = len(state.legal_actions()) + len(state.chance_outcomes())
    assert perft(state, 1) == choices, "perft(1) must be the number of choices"


def _check_symmetries(game: Game, rng: random.Random, games: int, max_length: int) -> None:
    """Play games and their images side by side."""
    for symmetry in game.symmetries():
        assert sorted(symmetry.actions) == list(range(game.num_actions)), "a symmetry must map the actions one to one"
        for _ in range(games):
            state, image = game.initial_state(), game.initial_state()
            for _ in range(max_length):
                assert _image(symmetry, state) == image.observation().tolist(), f"{image} is not the image of {state}"
                legal = sorted(symmetry.actions[action] for action in state.legal_actions())
                assert legal == sorted(image.legal_actions()), f"a symmetry must keep legal moves legal in {state}"
                if state.player() == TERMINAL:
                    assert state.returns() == image.returns(), f"a symmetry must keep the returns of {state}"
                    break
                step = _random_step(state, rng)
                chance = state.player() == CHANCE
                state.apply(step)
                if chance:  # outcomes are not mapped: one of them gives the image
                    after = [image.clone() for _ in image.chance_outcomes()]
                    for other, (outcome, _) in zip(after, image.chance_outcomes(), strict=True):
                        other.apply(outcome)
                    [image] = [other for other in after if other.observation().tolist() == _image(symmetry, state)]
                else:
                    image.apply(symmetry.actions[step])


def _image(symmetry: Symmetry, state: State) -> list[object]:
    image: list[object] = symmetry.observations(state.observation()[np.newaxis])[0].tolist()
    return image
