"""Learning from experience. One module a method; what needs PyTorch says so on its first lines."""
