"""A Chromium process with a fake camera."""

import os
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import deque
from pathlib import Path

from websockets.exceptions import WebSocketException

from .camera import Camera
from .devtools import DevTools, PageError

START_SECONDS = 60
STOP_SECONDS = 15
# The last lines of the process' own log that a failed start shows.
LOG_LINES = 50

OPTIONS = [
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--mute-audio",
    "--window-size=1280,900",
    "--autoplay-policy=no-user-gesture-required",
    # Grants the camera without a question.
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    # Loopback addresses in the offers; multicast DNS is not available everywhere.
    "--disable-features=WebRtcHideLocalIpsWithMdns",
    # Both pages run at their full rate, as the windows of two participants do.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
]


class Browser:
    """A Chromium process. Ended with its children, at the latest when the block ends."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._address: queue.Queue[str | None] = queue.Queue()

    def __enter__(self) -> DevTools:
        self._start()
        try:
            self.devtools = DevTools(self._wait_for_address()).__enter__()
        except BaseException:
            self._kill()
            raise
        return self.devtools

    def __exit__(self, *error: object) -> None:
        try:
            self.devtools.command("Browser.close")
            self.devtools.__exit__(*error)
            self.process.wait(STOP_SECONDS)
        except (PageError, WebSocketException, OSError, subprocess.TimeoutExpired):
            pass  # It is killed.
        finally:
            self._kill()

    def process_ids(self) -> list[int]:
        """Returns the ids of the browser's processes."""
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = status.read_text().rpartition(")")[2].split()
            except OSError:  # the process has ended
                continue
            session = int(fields[3])
            if session == self.process.pid:
                found.append(int(status.parent.name))
        return found

    def _start(self) -> None:
        program = os.environ.get("CHROMIUM") or shutil.which("chromium")
        if program is None:
            raise FileNotFoundError("chromium is not installed; run dev/setup, or set CHROMIUM")
        self._folder = tempfile.TemporaryDirectory(
            prefix="sidelight-browser-", ignore_cleanup_errors=True
        )
        options = [
            *OPTIONS,
            f"--user-data-dir={self._folder.name}",
            f"--use-file-for-fake-video-capture={self._camera.path}",
        ]
        if os.geteuid() == 0:  # as in a container
            options.append("--no-sandbox")
        self.process = subprocess.Popen(
            [program, *options, "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def _read_log(self) -> None:
        """Reads the log to its end, so the browser never waits for a reader."""
        assert self.process.stderr
        for line in self.process.stderr:
            text = line.decode(errors="replace")
            self._log.append(text)
            if found := re.search(r"DevTools listening on (ws://\S+)", text):
                self._address.put(found[1])
        self._address.put(None)

    def _wait_for_address(self) -> str:
        try:
            address = self._address.get(timeout=START_SECONDS)
        except queue.Empty:
            address = None
        if address is None:
            raise RuntimeError("chromium did not start:\n" + "".join(self._log))
        return address

    def _kill(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # It has ended.
        self.process.wait()
        self._reader.join()
        assert self.process.stderr
        self.process.stderr.close()
        self._folder.cleanup()
