"""Speed beside peers, measured in one run: `make bench`."""
