"""Learning from experience: one file per method, readable from top to bottom."""
