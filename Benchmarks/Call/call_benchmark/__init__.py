"""The benchmark of calls between browsers, filtered by Sidelight."""
