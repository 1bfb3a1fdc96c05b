"""The version of the package, by Semantic Versioning: 0.0.0 in a clone (`make packages` sets it)."""

__version__ = "0.0.0"
