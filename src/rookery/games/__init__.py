"""The games that ship, one folder per game. `rookery.load("checkers")` gives one; `rookery.GAMES` lists them all."""
