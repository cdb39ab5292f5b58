"""The studies: one file a paper, its experiments beside the paper's numbers."""
