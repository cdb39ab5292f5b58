"""The games that ship, one folder per game. `rookery.load("checkers")` gives one; `rookery.GAMES` lists them all."""


def game_name(folder: str) -> str:
    """The name of the game in a folder: `-` stands for `_`, and a name that begins with a digit has a `_` before it.

    >>> game_name("connect_four"), game_name("_15_puzzle")
    ('connect-four', '15-puzzle')
    """
    return folder.removeprefix("_").replace("_", "-")
