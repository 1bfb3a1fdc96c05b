"""What the tests share: a running server, and pictures."""
