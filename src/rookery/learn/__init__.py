"""Learning from experience: one file a method, readable from top to bottom."""
