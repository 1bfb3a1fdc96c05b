"""The command `sidelight studio`: its addresses, and the precedence of its defaults."""

import stat
from pathlib import Path
from tempfile import TemporaryDirectory

from calltesting.programs import Program
from studiotesting.studio import binary


def test_only_this_user_can_enter_the_folder_of_the_socket():
    # A path of pytest's own would be too long for a socket.
    with TemporaryDirectory() as runtime:
        with Program(binary(), "studio", environment={"XDG_RUNTIME_DIR": runtime}) as program:
            address = program.line().removeprefix("listening on ")
            assert program.line().startswith("studio on http://127.0.0.1:")
            assert address.startswith(f"unix:{runtime}/")
            socket = Path(address.removeprefix("unix:"))
            assert socket.is_socket()
            assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
        assert not socket.parent.exists()


def test_variables_and_flags_override_the_defaults():
    environment = {"SIDELIGHT_LISTEN": "127.0.0.1:0"}
    with Program(binary(), "studio", environment=environment) as program:
        assert program.line().startswith("listening on 127.0.0.1:")
    with Program(binary(), "studio", "--listen", "[::1]:0", environment=environment) as program:
        assert program.line().startswith("listening on [::1]:")
