"""A program that reads commands and prints events, line by line."""

import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Self

WAIT_SECONDS = 60


class Program:
    """A running program. Its output is read all the time. Killed at the end of the block."""

    def __init__(self, *command: str | Path) -> None:
        self._command = command
        self._changed = threading.Condition()
        self._ended = False
        self._seen = 0
        self.lines: list[str] = []

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdin.close()
        self.process.stdout.close()

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def send(self, line: str) -> None:
        """Writes a command."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait_for(self, pattern: str) -> re.Match:
        """Waits for a line that matches as a whole, after the last line that was waited for."""
        deadline = time.monotonic() + WAIT_SECONDS
        with self._changed:
            while True:
                while self._seen < len(self.lines):
                    line = self.lines[self._seen]
                    self._seen += 1
                    if match := re.fullmatch(pattern, line):
                        return match
                left = deadline - time.monotonic()
                assert left > 0 and not self._ended, f"no {pattern!r} in:\n" + self.tail()
                self._changed.wait(left)

    def finish(self) -> int:
        """Waits for the program's end, and returns its exit status."""
        status = self.process.wait(timeout=WAIT_SECONDS)
        self._reader.join()
        return status

    def tail(self) -> str:
        """The last lines of the output."""
        return "\n".join(self.lines[-40:])
