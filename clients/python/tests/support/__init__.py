"""A running server, and pictures, that the tests share."""
