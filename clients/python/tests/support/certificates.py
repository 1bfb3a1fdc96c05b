"""The test's own authority, which the server's tests have too."""

from __future__ import annotations

import sys

from support.running_server import REPOSITORY

sys.path.append(str(REPOSITORY / "Tests/Python"))

from sidelight_testing.certificates import Authority, Identity

__all__ = ["Authority", "Identity"]
