"""Other libraries: their games here, and ours there."""
