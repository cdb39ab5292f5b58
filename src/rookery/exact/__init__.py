"""Exact answers, by exhausting a game. One module a game."""
