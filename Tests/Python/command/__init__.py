"""The command, and the example programs."""
