"""Filters against reference formulas."""
