"""Games on the server: played, taken back, kept, shared."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

import rookery
from rookery.game import CHANCE, TERMINAL, State
from rookery.web import plays
from rookery.web.app import create_app
from rookery.web.store import Play, Store
from tests.web import conftest
from tests.web.conftest import events

pytestmark = pytest.mark.xdist_group("plays")  # one server for all

GAMES = sorted(rookery.GAMES)


def create(client: TestClient, game: str, players: list[str] | None = None, **body: Any) -> dict[str, Any]:
    many = rookery.load(game).players
    response = client.post("/api/plays", json={"game": game, "players": players or ["person"] * many, "seed": 1} | body)
    assert response.status_code == 201, response.text
    view: dict[str, Any] = response.json()
    return view


def post(client: TestClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    response = client.post(f"/api/plays/{path}", json=body)
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()
    return data


@pytest.mark.parametrize("game", GAMES)
def test_every_game_is_played_as_its_rules_say(client: TestClient, game: str) -> None:
    """The server's game beside one played on the state itself."""
    rng = random.Random(1)
    view = create(client, game, seed=3)
    state = rookery.load(game).parse_state(view["position"])
    for _ in range(60):
        assert view["position"] == str(state)
        assert [row["action"] for row in view["legal"]] == state.legal_actions()
        if view["turn"] == "over":
            break
        move = rng.choice(view["legal"])
        assert move["name"] == state.action_name(move["action"])
        state.apply(move["action"])
        view = post(client, f"{view['id']}/move", {"action": move["action"], "ply": view["ply"]})
        if state.player() == CHANCE:  # what the server drew must be possible
            drawn = rookery.load(game).parse_state(view["position"])
            possible = set()
            for outcome, _ in state.chance_outcomes():
                after = state.clone()
                after.apply(outcome)
                possible.add(str(after))
            assert str(drawn) in possible
            state = drawn
    assert (view["turn"] == "over") == (state.player() == TERMINAL)


class Model:
    """Undo and redo as a list of positions: slow and obvious."""

    def __init__(self, state: State) -> None:
        self.states, self.at = [state], 0

    def move(self, action: int, drawn: str) -> None:
        after = self.states[self.at].clone()
        after.apply(action)
        if after.player() == CHANCE:
            after = after.game.parse_state(drawn)
        if self.at + 1 < len(self.states) and str(self.states[self.at + 1]) == str(after):
            self.at += 1  # the same move again keeps the future
        else:
            self.states[self.at + 1 :] = [after]
            self.at += 1


@pytest.mark.parametrize("game", ["tenten", "endgames", "solitaire-chess"])
@settings(max_examples=15)
@given(data=st.data())
def test_undo_and_redo_are_a_list_of_positions(game: str, data: st.DataObject) -> None:
    rules = rookery.load(game)
    start = str(rules.random_start(random.Random(7)))
    now = plays.new_play(rules, None, ["person"] * rules.players, start, [], 7, {})
    model = Model(rules.parse_state(now.view()["position"]))
    for _ in range(data.draw(st.integers(1, 25))):
        view = now.view()
        assert plays.Replay(now.play).view() == view  # what was carried along is what a fresh replay finds
        assert view["position"] == str(model.states[model.at])
        assert (view["undo"] is None) == (model.at == 0)
        assert (view["redo"] is None) == (model.at == len(model.states) - 1)
        choices = ["move"] * (2 * bool(view["legal"])) + ["undo"] * (model.at > 0)
        choices += ["redo"] * (model.at < len(model.states) - 1)
        if not choices:
            break
        what = data.draw(st.sampled_from(choices))
        if what == "move":
            action = data.draw(st.sampled_from([row["action"] for row in view["legal"]]))
            now.act(action)
            model.move(action, now.view()["position"])
        else:
            now = plays.Replay(now.play, view[what])
            model.at += 1 if what == "redo" else -1


def test_chance_draws_the_same_again_for_one_seed(client: TestClient) -> None:
    def play(seed: int) -> list[str]:
        view = create(client, "tenten", seed=seed)
        seen = [view["position"]]
        for _ in range(8):
            view = post(client, f"{view['id']}/move", {"action": view["legal"][0]["action"]})
            seen.append(view["position"])
        return seen

    assert play(5) == play(5)
    assert play(5) != play(6)


def test_a_restart_loses_nothing(folder: Path) -> None:
    site = conftest.settings(folder / "restart")
    with TestClient(create_app(site), base_url="http://localhost") as first:
        view = create(first, "checkers", ["person", "random"])
        view = post(first, f"{view['id']}/move", {"action": view["legal"][0]["action"]})
    with TestClient(create_app(site), base_url="http://localhost", cookies=first.cookies) as second:
        assert second.get(f"/api/plays/{view['id']}").json() == view
        assert [row["id"] for row in second.get("/api/plays").json()["plays"]] == [view["id"]]
        assert second.request("DELETE", f"/api/plays/{view['id']}", json={}).status_code == 200
        assert second.get(f"/api/plays/{view['id']}").status_code == 404


def test_visitors_have_games_of_their_own(folder: Path) -> None:
    def listed(client: TestClient) -> list[str]:
        return [row["id"] for row in client.get("/api/plays").json()["plays"]]

    with TestClient(create_app(conftest.settings(folder / "visitors")), base_url="http://localhost") as client:
        mine = create(client, "checkers")["id"]
        first = dict(client.cookies)
        assert create(client, "checkers")["id"] in listed(client)
        assert dict(client.cookies) == first
        client.cookies.clear()
        assert listed(client) == []
        theirs = create(client, "checkers")
        assert listed(client) == [theirs["id"]]
        assert dict(client.cookies) != first
        # Who has the address of a game can enter it, and not delete it.
        assert post(client, f"{mine}/move", {"action": theirs["legal"][0]["action"]})["ply"] == 1
        assert client.request("DELETE", f"/api/plays/{mine}", json={}).status_code == 403
        client.cookies.clear()
        client.cookies.update(first)
        assert client.request("DELETE", f"/api/plays/{mine}", json={}).status_code == 200
        assert mine not in listed(client)


def test_the_store_forgets_the_oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.web.store.KEPT", 3)
    store = Store(tmp_path / "web.sqlite")
    made = [Play("checkers", None, "x'); DROP TABLE plays; --", i, ["person"]) for i in range(5)]
    for play in made:
        store.add(play)
    assert [play.id for play in store.recent("", 10)] == [play.id for play in reversed(made[2:])]
    assert store.load(made[4].id) == made[4]
    store.close()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "web.sqlite").write_bytes(b"not a database at all, certainly not" * 100)
    with pytest.raises(ValueError, match=r"web\.sqlite cannot be used"):
        Store(tmp_path / "web.sqlite")


def test_the_agent_replies_and_a_late_reply_is_dropped(client: TestClient) -> None:
    view = create(client, "checkers", ["person", "minimax:depth=2"])
    view = post(client, f"{view['id']}/move", {"action": view["legal"][0]["action"]})
    assert view["turn"] == "agent"
    refused = client.post(f"/api/plays/{view['id']}/move", json={"action": view["legal"][0]["action"]})
    assert (refused.status_code, refused.json()) == (409, {"error": "it is the agent's turn"})
    last = events(client.post(f"/api/plays/{view['id']}/reply", json={}).text)[-1]
    assert last["event"] == "view"
    assert last["view"]["turn"] == "person"
    assert last["view"]["ply"] == view["ply"] + 1
    assert client.post(f"/api/plays/{view['id']}/reply", json={}).status_code == 409


def test_undo_goes_to_the_persons_turn(client: TestClient) -> None:
    view = create(client, "checkers", ["person", "random"])
    start = view["position"]
    view = post(client, f"{view['id']}/move", {"action": view["legal"][0]["action"]})
    view = events(client.post(f"/api/plays/{view['id']}/reply", json={}).text)[-1]["view"]
    assert view["undo"] == 0
    back = post(client, f"{view['id']}/goto", {"ply": view["undo"]})
    assert back["position"] == start
    again = post(client, f"{view['id']}/goto", {"ply": back["redo"]})
    assert again["position"] == view["position"]


def test_positions_of_the_field_are_read(client: TestClient) -> None:
    fen = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"
    assert create(client, "endgames", position=fen)["position"] == fen
    pdn = '[Event "x"] 1. 11-15 22-18 2. 15x22 25x18 *'
    view = create(client, "checkers", position=pdn)
    assert [row["name"] for row in view["history"]] == ["11-15", "22-18", "15x22", "25x18"]
    record = "(28,28)\n(27,27) / 0\n(31,35) | -2\n"
    view = create(client, "morpion", position=record)
    assert view["ply"] == 2
    assert client.get(f"/api/plays/{view['id']}/record").json() == {"text": record, "file": "game.psol"}


@pytest.mark.parametrize(("game", "file"), [("checkers", "game.pdn"), ("endgames", "game.pgn"), ("tenten", "game.txt")])
def test_records_name_every_move(client: TestClient, game: str, file: str) -> None:
    view = create(client, game, seed=2)
    for _ in range(3):
        view = post(client, f"{view['id']}/move", {"action": view["legal"][-1]["action"]})
    record = client.get(f"/api/plays/{view['id']}/record").json()
    assert record["file"] == file
    assert all(row["name"] in record["text"] for row in view["history"])


@pytest.mark.parametrize("game", GAMES)
def test_a_saved_game_is_read_back(client: TestClient, game: str) -> None:
    """What `Save game` writes can be put into the field for a position, and every move can be taken back."""
    view = create(client, game, seed=2)
    for _ in range(5):
        if view["legal"]:
            view = post(client, f"{view['id']}/move", {"action": view["legal"][-1]["action"]})
    text = client.get(f"/api/plays/{view['id']}/record").json()["text"]
    again = create(client, game, position=text)
    assert (again["position"], again["ply"]) == (view["position"], view["ply"])
    assert [row["name"] for row in again["history"]] == [row["name"] for row in view["history"]]


SCORED = """
from examples.tic_tac_toe import TicTacToe, TicTacToeState
from rookery.game import TERMINAL, Game


class Count(Game):
    name, players, num_actions, observation_shape = "count", 1, 2, (1,)
    parsed = 0

    def initial_state(self):
        return CountState(self, 0)

    def parse_state(self, text):
        type(self).parsed += 1
        return CountState(self, int(text))


class CountState(TicTacToeState):
    def __init__(self, game, score):
        self._game, self.score = game, score

    def player(self):
        return TERMINAL if self.score >= 3 else 0

    def legal_actions(self):
        return [] if self.score >= 3 else [1]

    def apply(self, action):
        self.score += action

    def clone(self):
        return CountState(self._game, self.score)

    def returns(self):
        return [float(self.score)]

    def __str__(self):
        return str(self.score)


class Tame:
    game = "count"

    def choose(self, state):
        return 1
"""


def test_a_game_of_ones_own_for_one_player_comes_to_its_end(folder: Path) -> None:
    """Its state has a `score`, which other games have too, with more beside it. An agent of the same file plays it."""
    file = folder / "count.py"
    file.write_text(SCORED, encoding="utf-8")
    site = conftest.settings(folder / "own", load=(file,))
    with TestClient(create_app(site), base_url="http://localhost") as client:
        view = create(client, "count")
        rules: Any = rookery.GAMES["count"]
        for _ in range(2):
            before = rules.parsed
            view = post(client, f"{view['id']}/move", {"action": 1})
            assert rules.parsed == before + 1  # one replay per request
        assert (view["turn"], view["status"]) == ("person", "Your move")
        assert "tame" in view["agents"]
        view = post(client, f"{view['id']}/players", {"players": ["tame"]})
        view = events(client.post(f"/api/plays/{view['id']}/reply", json={}).text)[-1]["view"]
        assert (view["turn"], view["status"]) == ("over", "Over: 3")
        assert client.get("/api/plays").json()["plays"][0]["status"] == "Over: 3"
        [row] = [row for row in client.get("/api/games").json()["games"] if row["name"] == "count"]
        assert (row["title"], row["opponent"]) == ("Count", "mcts:simulations=1000")


def test_the_shown_position_is_drawn_while_it_is_typed(client: TestClient) -> None:
    good = client.post("/api/preview", json={"game": "solitaire-chess", "position": "R.../.B../..N./P..."})
    assert good.json()["moves"] == 4
    assert good.json()["svg"].startswith("<svg")
    bad = client.post("/api/preview", json={"game": "solitaire-chess", "position": "R.../.B"})
    assert "expected 4 rows" in bad.json()["problem"]


@pytest.mark.parametrize(
    ("game", "before", "cell", "piece", "after"),
    [
        ("solitaire-chess", "R.../.B../..N./P...", 15, "Q", "R.../.B../..N./P..Q"),
        ("solitaire-chess", "R.../.B../..N./P...", 0, ".", "..../.B../..N./P..."),
        ("endgames", "8/8/8/4k3/8/8/8/R3K3 w - - 0 1", 56, ".", "8/8/8/4k3/8/8/8/4K3 w - - 0 1"),
        ("endgames", "8/8/8/4k3/8/8/8/R3K3 w - - 0 1", 0, "k", None),  # in check, and White to move
        ("checkers", "B:W21,K30:B1", 31, "KB", "B:W21,K30:B1,K32"),
        ("checkers", "B:W21,K30:B1", 0, "turn", "W:W21,K30:B1"),
        ("checkers", "B:W21,K30:B1", 0, "W", None),  # a man on the last row is a king
        ("morpion", "(28,28)", 0, "x", None),
    ],
)
def test_positions_are_set_up_by_hand(
    client: TestClient, game: str, before: str, cell: int, piece: str, after: str | None
) -> None:
    body = {"game": game, "position": before, "cell": cell, "piece": piece}
    seen = client.post("/api/preview", json=body).json()
    if after is None:
        assert "problem" in seen
    else:
        assert seen["position"] == after


@pytest.mark.parametrize(
    ("game", "cleared", "steps", "position"),
    [
        ("endgames", "8/8/8/8/8/8/8/8 w - - 0 1", [(4, "k"), (60, "K"), (63, "R")], "4k3/8/8/8/8/8/8/4K2R w - - 0 1"),
        ("checkers", "B:W:B", [(0, "B"), (29, "KW")], "B:WK30:B1"),
        ("solitaire-chess", "..../..../..../....", [(0, "R"), (3, "B")], "R..B/..../..../...."),
    ],
)
def test_a_board_is_cleared_and_filled_again(
    client: TestClient, game: str, cleared: str, steps: list[tuple[int, str]], position: str
) -> None:
    def put(text: str, cell: int, piece: str) -> Any:
        return client.post("/api/preview", json={"game": game, "position": text, "cell": cell, "piece": piece}).json()

    seen = put(str(rookery.load(game).initial_state()), 0, "clear")
    assert seen["position"] == cleared
    for cell, piece in steps:
        assert seen["svg"].startswith("<svg")
        seen = put(seen["position"], cell, piece)
    assert "problem" not in seen
    assert seen["position"] == position
    assert rookery.load(game).sketch(position) == seen["svg"] == rookery.load(game).parse_state(position).svg()


@pytest.mark.parametrize(
    ("game", "board", "pieces"),
    [
        ("endgames", "8/8/8/8/8/8/8/8 w - - 0 1", 0),
        ("endgames", "8/8/8/3kK3/8/8/8/R7 b - - 0 1", 3),
        ("checkers", "B:W1:B2", 2),
    ],
)
def test_a_board_that_is_no_position_is_drawn_and_said_to_be_none(
    client: TestClient, game: str, board: str, pieces: int
) -> None:
    seen = client.post("/api/preview", json={"game": game, "position": board}).json()
    assert seen["problem"]
    assert seen["position"] == board
    assert seen["svg"].count("data-upright") == pieces
    assert (
        client.post("/api/plays", json={"game": game, "position": board, "players": ["person"] * 2}).status_code == 400
    )


@pytest.mark.parametrize("text", ["", "x", "8/8 w", "B:W99:B", "B:W1,K:B", "R.../", "\0", "....", "9" * 40])
def test_what_is_no_board_is_refused_with_a_sentence(client: TestClient, text: str) -> None:
    for game in ("endgames", "checkers", "solitaire-chess", "tenten", "morpion"):
        with pytest.raises(ValueError, match=r"."):
            rookery.load(game).sketch(text)
        body = {"game": game, "position": text or " ", "cell": 0, "piece": "clear"}
        problem = client.post("/api/preview", json=body).json()["problem"]
        assert not re.search("unpack|index|literal|NoneType", problem)


@pytest.mark.parametrize(
    "body", [{"game": "endgames"}, {"game": "tenten"}, {"game": "solitaire-chess", "puzzle": "expert"}]
)
def test_the_preview_is_what_start_gives(client: TestClient, body: dict[str, Any]) -> None:
    for seed in (1, 2):
        seen = client.post("/api/preview", json=body | {"seed": seed}).json()
        view = client.post("/api/plays", json=body | {"seed": seed, "players": ["person"] * len(_sides(body))}).json()
        assert (seen["position"], seen["svg"]) == (view["position"], view["svg"])
        assert seen["agents"] == view["agents"]


def _sides(body: dict[str, Any]) -> tuple[str, ...]:
    game = rookery.load(body["game"])
    return game.sides[: game.players]


@pytest.mark.parametrize("game", GAMES)
def test_a_copied_game_is_pasted_back(client: TestClient, game: str) -> None:
    view = create(client, game, seed=3)
    for _ in range(5):
        if view["turn"] == "over":
            break
        view = post(client, f"{view['id']}/move", {"action": view["legal"][0]["action"]})
    copied = client.get(f"/api/plays/{view['id']}/record").json()
    pasted = create(client, game, position=copied["text"])
    for key in ("position", "ply", "length", "status", "player"):
        assert pasted[key] == view[key], key
    assert [row["name"] for row in pasted["history"]] == [row["name"] for row in view["history"]]
    if copied["file"].endswith(("pgn", "pdn")):
        assert re.search(r'\[Date "20[0-9]{2}\.[01][0-9]\.[0-3][0-9]"\]', copied["text"])
        assert '[White "Person"]' in copied["text"]


def test_blocks_and_hands_are_set_up(client: TestClient) -> None:
    body = {"game": "tenten", "variant": "3x3-three", "position": "#../.../... 1x1"}
    block = client.post("/api/preview", json=body | {"cell": 8, "piece": "#"}).json()
    assert block["position"] == "#../.../..# 1x1"
    hand = client.post("/api/preview", json=body | {"cell": 9, "piece": "2x1"}).json()
    assert hand["position"] == "#../.../... 2x1"


def test_games_are_described(client: TestClient) -> None:
    rows = client.get("/api/games").json()["games"]
    assert {row["name"] for row in rows} >= set(GAMES)
    by_name = {row["name"]: row for row in rows}
    assert by_name["checkers"]["sides"] == ["Black", "White"]
    assert "minimax:depth=3" not in by_name["tenten"]["agents"]  # minimax needs a game without chance
    assert by_name["endgames"]["agents"][0] == by_name["endgames"]["opponent"] == "best"
    titles = ["Checkers", "Chess endgames", "Morpion Solitaire", "Solitaire Chess", "1010!"]
    assert {by_name[name]["title"] for name in GAMES if name in by_name} >= set(titles)
    assert all(by_name[name]["blurb"] for name in ("checkers", "endgames", "morpion", "solitaire-chess", "tenten"))
    assert by_name["endgames"]["start"] == "a random position that White wins"
    assert by_name["solitaire-chess"]["levels"][-1] == "solo"
    assert by_name["tenten"]["levels"] == []


def test_statuses(client: TestClient) -> None:
    """What people are told about a position, at the start and at the end."""
    for game, position, status in (
        ("checkers", "W:W21:B1", "White to move"),
        ("checkers", "W:W:B1", "Black wins"),
        ("endgames", "8/8/8/8/8/1K6/7R/k7 w - - 0 1", "White to move"),
        ("endgames", "7k/8/8/8/8/8/8/K6R b - - 0 1", "Black to move, in check"),
        ("endgames", "8/8/8/8/8/1K6/8/k6R b - - 0 1", "White wins (checkmate)"),
        ("endgames", "8/8/8/8/8/8/8/k1K5 w - - 0 1", "Drawn (insufficient material)"),
        ("morpion", "(28,28);(27,27) / 0", "1 move"),
        ("solitaire-chess", "R.../.B../..N./P...", "4 pieces left"),
        ("solitaire-chess", "R.../..../..../....", "Solved: one piece is left"),
        ("solitaire-chess", "R.../..K./..../....", "Stuck with 2 pieces left"),
    ):
        assert create(client, game, position=position)["status"] == status
    view = create(client, "tenten", variant="3x3-three", position="##./.../... 1x1")
    assert view["status"] == "0 points"
    assert post(client, f"{view['id']}/move", {"action": 2})["status"] == "11 points"
    end = create(client, "tenten", variant="3x3-three", position="#.#/.#./#.# 1x2")
    assert end["status"] == "No piece fits any more: 0 points in 0 rounds"


# Without a server


def begun(game: str, players: list[str], position: str = "", variant: str | None = None, **about: Any) -> plays.Replay:
    rules = rookery.load(game, variant)
    return plays.new_play(rules, variant, players, position or str(rules.initial_state()), [], 1, about)


def test_agents_are_named_by_numbers_switches_and_choices() -> None:
    game = plays.rules("checkers", None)
    for name in ("random", "minimax:depth=3", "mcts:simulations=10000000", "mcts:exploration=0", "run 7"):
        assert plays.check_agent(name, game, ["run 7"]) == name
    for name, sentence in (
        (
            "mcts:simulations=10000001",
            "simulations of the agent must be a number of at most 10,000,000, not '10000001'",
        ),
        ("mcts:exploration=-10000001", "exploration of the agent must be a number of at most 10,000,000"),
        ("mcts:exploration=nan", "exploration of the agent must be a number"),
        ("mcts:exploration=x", "exploration of the agent must be a number of at most 10,000,000, not 'x'"),
        ("mcts:simulations=1.5", "simulations of the agent 'mcts' must be a whole number"),
        ("minimax:path=x", "unknown setting 'path' of the agent; did you mean 'depth'?"),
        ("hub:path=/bin/sh", "unknown setting 'path' of the agent"),
        ("best:threads=64", "unknown setting 'threads' of the agent"),
        ("run 8", "unknown agent 'run 8' for checkers"),
    ):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            plays.check_agent(name, game, ["run 7"])


def test_players_must_fit_the_game_and_the_position() -> None:
    checkers, tenten = plays.rules("checkers", None), plays.rules("tenten", None)
    start = checkers.initial_state()
    plays.check_players(["person", "random"], checkers, start)
    plays.check_players(["run 7", "run 7"], checkers, start, ["run 7"])
    for game, players, sentence in (
        (checkers, ["person"], "checkers needs 2 players, not 1"), (tenten, [], "tenten needs 1 player, not 0"),
        (checkers, ["person", "zero"], "zero cannot play this position: it is not trained yet"),
        (checkers, ["oracle", "person"], "oracle cannot play this position: it "),
        (checkers, ["person", "nobody"], "unknown agent 'nobody'"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=sentence):
            plays.check_players(players, game, game.initial_state())
    plays.check_players(["oracle", "person"], checkers, checkers.parse_state("B:WK30:BK1,K2"))


def test_what_is_offered_in_which_order() -> None:
    start = plays.rules("checkers", None).initial_state()
    offered = plays.offered_agents(start, ["run 7"])
    assert (offered[0], offered[-1]) == ("best", "run 7")
    assert "oracle" not in offered
    assert [name for name in offered if name.startswith("minimax")] == [f"minimax:depth={n}" for n in (1, 3, 5, 7)]
    assert offered.index("mcts:simulations=100") < offered.index("minimax:depth=1"), "later ones are stronger"
    alone = plays.offered_agents(plays.rules("solitaire-chess", None).initial_state())
    assert [name for name in alone if name.startswith("minimax")] == ["minimax:depth=1", "minimax:depth=3"]
    ending = plays.rules("checkers", None).parse_state("B:WK30:BK1,K2")
    assert plays.offered_agents(ending)[:2] == ["best", "oracle"]


def test_whom_a_person_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    game = plays.rules("checkers", None)
    levels = game.levels()
    known = plays.opponents(game.initial_state())
    assert [row["agent"] for row in known] == [level.agent for level in levels]
    assert plays.usual_opponent(game) == levels[(len(levels) - 1) // 2].agent
    assert known[0] == {
        "name": levels[0].name,
        "agent": levels[0].agent,
        "elo": levels[0].elo,
        "about": levels[0].about,
    }
    without = plays.rules("tenten", None)
    monkeypatch.setattr(plays, "opponents", lambda state: [])
    assert plays.usual_opponent(without) == plays.opponent(without)
    monkeypatch.setattr(plays, "strongest", lambda game, among: "mcts")
    assert plays.opponent(without) == "mcts:simulations=1000"
    monkeypatch.setattr(plays, "opponents", lambda state: [{"agent": name} for name in "abcd"])
    assert plays.usual_opponent(without) == "b"


def test_who_knows_the_exact_values() -> None:
    assert plays.exact_agent(plays.rules("endgames", "KRK")) == "oracle"
    assert plays.exact_agent(plays.rules("tenten", "4x4-seven")) == "oracle"
    assert plays.exact_agent(plays.rules("tenten", "10x10")) is None
    with pytest.raises(ValueError, match="unknown game 'chekers'; did you mean 'checkers'"):
        plays.rules("chekers", None)


def test_the_puzzle_of_the_day_belongs_to_the_first_game_with_puzzles() -> None:
    name = plays.daily_game()
    assert name == next(name for name in rookery.GAMES if rookery.load(name).puzzle_levels)


def test_a_view_of_a_game_against_an_agent() -> None:
    now = begun("checkers", ["person", "random"])
    for word in ("11-15", "22-18", "15x22", "25x18"):
        now.act(now.state.parse_action(word))
    view = now.view()
    assert (view["ply"], view["length"], view["undo"], view["redo"]) == (4, 4, 2, None)
    assert [(row["ply"], row["player"], row["turn"], row["name"]) for row in view["history"]] == [
        (1, 0, 1, "11-15"), (2, 1, 1, "22-18"), (3, 0, 2, "15x22"), (4, 1, 2, "25x18"),
    ]  # fmt: skip
    assert (view["turn"], view["player"], view["status"], view["result"]) == ("person", 0, "Black to move", None)
    assert view["usual"]
    state = now.state
    assert [row["action"] for row in view["legal"]] == state.listed_actions()
    back = plays.Replay(now.play, 1)
    assert (back.view()["turn"], back.view()["undo"], back.view()["redo"]) == ("agent", 0, 2)
    assert back.stops() == [0, 2, 4]
    back.act(back.state.parse_action("22-17"))
    assert (back.play.actions[2:], back.play.cursor, sorted(back.named)) == ([], 2, [1, 2])
    assert back.view()["path"] == back.path != []
    other = begun("checkers", ["person", "random"], "B:W21,22:B1,2")
    assert not other.view()["usual"]
    for ply in (-1, 3):
        with pytest.raises(ValueError, match=f"the game has plies 0 to 2, not {ply}"):
            plays.Replay(back.play, ply)


def test_the_same_move_again_keeps_what_followed() -> None:
    now = begun("tenten", ["person"], variant="3x3-three")
    for _ in range(3):
        now.act(now.state.legal_actions()[0])
    actions, positions = list(now.play.actions), str(now.state)
    first = plays.Replay(now.play, 0)
    while first.play.cursor < len(actions):
        first.act(first.state.legal_actions()[0])
    assert (first.play.actions, str(first.state)) == (actions, positions)
    assert CHANCE not in [first.movers[ply] for ply in first.stops()]


def test_agents_alone_are_watched_move_by_move() -> None:
    now = begun("checkers", ["random", "random"])
    for word in ("11-15", "22-18"):
        now.act(now.state.parse_action(word))
    assert now.stops() == [0, 1, 2]
    assert now.view()["turn"] == "agent"


def test_moves_near_the_one_that_is_shown_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plays, "NAMED", 2)
    now = begun("checkers", ["person", "person"])
    for word in ("11-15", "22-18", "15x22", "25x18", "8-11", "29-25"):
        now.act(now.state.parse_action(word))
    assert sorted(plays.Replay(now.play, 3).named) == [3, 4, 5]
    assert sorted(plays.Replay(now.play, 0).named) == [1, 2]


def test_a_game_is_not_continued_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plays, "MAX_ACTIONS", 2)
    now = begun("checkers", ["person", "person"])
    for word in ("11-15", "22-18"):
        now.act(now.state.parse_action(word))
    with pytest.raises(ValueError, match="a game of 2 actions is not continued"):
        now.act(now.state.legal_actions()[0])
    with pytest.raises(ValueError, match="action 9999 is not legal in "):
        now.act(9999)


def test_how_games_end() -> None:
    won = begun("checkers", ["person", "random"], "W:W:B1")
    assert won.result() == {"winner": 0, "text": "Black wins"}
    assert (won.view()["turn"], won.view()["legal"], won.card()["over"]) == ("over", [], True)
    assert won.card()["status"] == "Black wins"
    assert begun("endgames", ["person", "random"], "8/8/8/8/8/8/8/k1K5 w - - 0 1").result() == {
        "winner": None, "text": "Drawn (insufficient material)",
    }  # fmt: skip
    assert begun("endgames", ["person", "random"], "7k/6Q1/5K2/8/8/8/8/8 b - - 0 1").result()["winner"] == 0  # type: ignore[index]
    with pytest.raises(ValueError, match="the game is over"):
        won.act(0)
    solved = begun("solitaire-chess", ["person"], "R.../..../..../....").result()
    stuck = begun("solitaire-chess", ["person"], "R.../..K./..../....").result()
    assert solved is not None
    assert stuck is not None
    assert (solved["solved"], stuck["solved"]) == (True, False)
    points = begun("tenten", ["person"], "#.#/.#./#.# 1x2", "3x3-three")
    assert points.result()["solved"] is None  # type: ignore[index]
    assert begun("checkers", ["person", "random"]).card()["over"] is False


def test_giving_up() -> None:
    now = begun("checkers", ["random", "person"])
    for word in ("11-15", "22-18"):
        now.act(now.state.parse_action(word))
    back = plays.Replay(now.play, 1)
    back.resign()
    assert (back.play.actions, back.resigned()) == (now.play.actions[:1], 1)
    assert back.result() == {"winner": 0, "text": "White resigned: Black wins"}
    assert sorted(back.named) == [1]
    with pytest.raises(ValueError, match="the game is over"):
        back.resign()
    assert plays.Replay(back.play, 0).resigned() is None
    played_on = plays.Replay(back.play, 1)
    assert played_on.resigned() == 1
    played_on.act(played_on.state.parse_action("22-17"))
    assert (played_on.resigned(), "resigned" in played_on.play.about) == (None, False)
    first = begun("checkers", ["random", "person"])
    first.resign()
    assert first.resigned() == 1, "the only person there is"
    both = begun("checkers", ["person", "person"])
    both.act(both.state.parse_action("11-15"))
    both.resign()
    assert both.resigned() == 1, "who is to move"
    for game, players in (("checkers", ["random", "random"]), ("tenten", ["person"])):
        with pytest.raises(ValueError, match="only a person who plays against somebody can resign"):
            begun(game, players).resign()


def test_turns_are_numbered_as_people_do() -> None:
    now = begun("checkers", ["person", "person"])
    for word in ("11-15", "22-18", "15x22"):
        now.act(now.state.parse_action(word))
    assert now.turns() == [1, 1, 2, 2]
    second = begun("checkers", ["person", "person"], "W:W21,22:B1,2")
    second.act(second.state.legal_actions()[0])
    assert second.turns() == [1, 2]
    alone = begun("tenten", ["person"], variant="3x3-three")
    for _ in range(2):
        alone.act(alone.state.legal_actions()[0])
    numbers = [turn for turn, mover in zip(alone.turns(), alone.movers, strict=True) if mover >= 0]
    assert numbers == list(range(1, len(numbers) + 1))
    assert alone.turns()[0] == 0, "chance comes before the first turn"


def test_the_last_move_is_marked_unless_the_game_does_it() -> None:
    now = begun("checkers", ["person", "person"])
    plain = now.svg()
    assert plain == now.state.svg()
    now.act(now.state.parse_action("11-15"))
    assert (now.svg() == now.state.svg()) == now.game.draws_last_move
    morpion = begun("morpion", ["person"])
    morpion.act(morpion.state.legal_actions()[0])
    row = morpion.view()["history"][0]
    assert len(row["line"]) == 2
    assert row["dot"] == morpion.path[0]


def test_what_may_be_put_on_a_board() -> None:
    checkers = plays.rules("checkers", None)
    assert plays.with_piece(checkers, "B:W21,K30:B1", 31, "KB") == "B:W21,K30:B1,K32"
    assert plays.with_piece(checkers, " B:W:B ", 0, "B") == "B:W:B1", "a board that is no position yet"
    for game, piece in (("checkers", "Q"), ("solitaire-chess", "turn"), ("morpion", "clear"), ("morpion", "turn")):
        rules = plays.rules(game, None)
        with pytest.raises(ValueError, match=f"'{piece}' cannot be put on a board of"):
            plays.with_piece(rules, str(rules.initial_state()), 0, piece)
