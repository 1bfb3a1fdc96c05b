"""The call server of `Examples/call`, which waits a short time for uploads."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Examples/call"))

import call_server

call_server._UPLOAD_SECONDS = 0.5

if __name__ == "__main__":
    call_server.main()
