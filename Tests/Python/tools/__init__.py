"""Scripts, generated pages and benchmarks."""
