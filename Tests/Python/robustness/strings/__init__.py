"""Strings of any length in every field that takes one."""
