"""Hostile, silent and dead peers."""
