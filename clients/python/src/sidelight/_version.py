"""The version of the package, by Semantic Versioning."""

__version__ = "0.1.0"
