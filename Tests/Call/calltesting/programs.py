"""Server programs: Sidelight at a socket that stays the same, and the call server."""

import base64
import os
import queue
import secrets
import subprocess
import sys
import tempfile
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from .participant import Participant

REPOSITORY = Path(__file__).resolve().parents[3]
CALL_SERVER = REPOSITORY / "Examples/call/call_server.py"
# The same, with a record of the frames that it sends to Sidelight.
OBSERVED_CALL_SERVER = REPOSITORY / "Tests/Call/observed_call_server.py"

START_SECONDS = 60
STOP_SECONDS = 20
# The first lines of a program's output that are kept.
MOST_LINES = 100
# The last lines of a program's log that a failed test shows.
LOG_LINES = 400


class Program:
    """A running program. Ended by its process id, at the latest when the block ends."""

    def __init__(self, *command: str | Path, environment: dict[str, str] | None = None) -> None:
        self._command = [str(each) for each in command]
        self._environment = os.environ | (environment or {})
        self._lines: queue.Queue[str | None] = queue.Queue(MOST_LINES)
        self._log: deque[str] = deque(maxlen=LOG_LINES)

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._readers = [
            threading.Thread(target=reader, daemon=True)
            for reader in (self._read_lines, self._read_log)
        ]
        for reader in self._readers:
            reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._wait()

    def kill(self) -> None:
        """Kills the program with SIGKILL."""
        self.process.kill()
        self._wait()

    def line(self) -> str:
        """Returns the next line that the program prints; fails if it does not come in time."""
        try:
            line = self._lines.get(timeout=START_SECONDS)
        except queue.Empty:
            line = None
        if line is None:
            raise RuntimeError(f"{' '.join(self._command)} printed nothing more:\n{self.log}")
        return line

    @property
    def log(self) -> str:
        """The last lines that the program wrote to its standard error."""
        return "".join(self._log)

    def _wait(self) -> None:
        self.process.wait()
        for reader in self._readers:
            reader.join()

    def _read_lines(self) -> None:
        assert self.process.stdout
        with self.process.stdout as lines:
            for line in lines:
                if not self._lines.full():
                    self._lines.put(line.rstrip("\n"))
        if not self._lines.full():
            self._lines.put(None)

    def _read_log(self) -> None:
        assert self.process.stderr
        with self.process.stderr as lines:
            self._log.extend(lines)


class Sidelight:
    """Sidelight on a Unix socket with shared memory, which can be killed and started again.

    Its resume keys stay the same, as in a deployment.
    """

    def __init__(self, *options: str, environment: dict[str, str] | None = None) -> None:
        self._options = options
        self._environment = environment
        self._folder = tempfile.TemporaryDirectory(prefix="sidelight-call-")
        folder = Path(self._folder.name)
        self._socket = folder / "sidelight.sock"
        self._keys = folder / "keys"
        self._keys.write_text(f"test:{base64.b64encode(secrets.token_bytes(32)).decode()}\n")
        self._keys.chmod(0o600)

    @property
    def address(self) -> str:
        """The address of the socket."""
        return f"unix:{self._socket}"

    @property
    def process(self) -> subprocess.Popen[str]:
        """The process that runs now, or ran last."""
        return self._program.process

    @property
    def log(self) -> str:
        """The last lines of the log of the process."""
        return self._program.log

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._program.__exit__()
        self._folder.cleanup()

    def start(self) -> None:
        """Starts the process, and waits until it listens."""
        self._program = Program(
            binary(), "serve", "--listen", self.address, "--shared-memory",
            "--resume-keys-file", self._keys, *self._options,
            environment=self._environment,
        )
        self._program.__enter__()
        line = self._program.line()
        if not line.startswith("listening on "):
            raise RuntimeError(f"sidelight printed {line!r}\n{self.log}")

    def kill(self) -> None:
        """Kills the process with SIGKILL, as the kernel does when memory is short."""
        self._program.kill()


class CallServer(Program):
    """The call server of `Examples/call`, on a free port, or a variant of it."""

    def __init__(
        self,
        sidelight: str,
        *options: str,
        program: Path = OBSERVED_CALL_SERVER,
        environment: dict[str, str] | None = None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sidelight-frames-")
        self._record = Path(self._folder.name) / "frames"
        super().__init__(
            sys.executable, program, "--sidelight", sidelight, "--port", "0", *options,
            environment={
                "PYTHONPATH": f"{REPOSITORY}/Tests/Call",
                "FRAME_RECORD": str(self._record),
                **(environment or {}),
            },
        )

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            _, separator, self.address = self.line().partition("listening on ")
            if not separator:
                raise RuntimeError(f"the call server did not print its address:\n{self.log}")
            self.moderator_address = self.line().split()[-1]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._folder.cleanup()

    def number_of(self, participant: "Participant", sequence: int) -> int:
        """Returns the number in the picture that was sent to Sidelight as a participant's frame."""
        frame = f"{participant.room}/{participant.name} {sequence} "
        for line in self._record.read_text().splitlines():
            if line.startswith(frame):
                return int(line.removeprefix(frame))
        raise LookupError(f"no frame {frame}was sent")


def binary() -> Path:
    """The built command: `SIDELIGHT_BINARY`, or where a release build puts it."""
    path = Path(os.environ.get("SIDELIGHT_BINARY", REPOSITORY / ".build/release/sidelight"))
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not built; run dev/build, or set SIDELIGHT_BINARY")
    return path
