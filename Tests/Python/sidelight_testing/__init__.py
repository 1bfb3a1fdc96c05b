"""Code that tests share: a running server, the contract's Python, sessions, images, formulas."""
