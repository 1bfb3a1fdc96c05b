"""Code that the tests, the benchmark and the screenshots of the studio share."""
