"""The command `python -m sidelight`."""
