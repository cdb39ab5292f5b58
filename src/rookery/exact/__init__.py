"""Exact answers by exhausting a game: one file a game."""
