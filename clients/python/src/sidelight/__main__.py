"""`python -m sidelight`: filters pictures and videos, and shows the filters of a server."""

from __future__ import annotations

import sys

from ._command.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
