"""A Prometheus process that scrapes a server."""

import json
import re
import select
import shutil
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Self

import pytest

WAIT_SECONDS = 30


def needs(*commands: str) -> pytest.MarkDecorator:
    """Skips tests whose commands are not installed."""
    missing = [each for each in commands if shutil.which(each) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


class Prometheus:
    """A Prometheus process. Ended by its own process id, at the latest when the block ends."""

    def __init__(self, target: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sidelight-prometheus-")
        self._target = target

    def __enter__(self) -> Self:
        folder = Path(self._folder.name)
        configuration = {
            "global": {"scrape_interval": "200ms", "scrape_timeout": "200ms"},
            "scrape_configs": [
                {"job_name": "sidelight", "static_configs": [{"targets": [self._target]}]}
            ],
        }
        # JSON is YAML too.
        (folder / "prometheus.yml").write_text(json.dumps(configuration))
        self.process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                "--web.listen-address=127.0.0.1:0",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.url = f"http://{self._listening_address()}"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self._folder.cleanup()

    def query(self, expression: str) -> list:
        """Evaluates an expression, and returns its series; fails if it is invalid."""
        text = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{text}", timeout=10) as answer:
            result = json.load(answer)
        assert result["status"] == "success", result
        return result["data"]["result"]

    def wait_for_scrape_after(self, moment: float) -> None:
        """Waits for a scrape that began after a point in time."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            # Not of an expression's result, which is as old as the question.
            found = self.query('timestamp(up{job="sidelight"})')
            if found and float(found[0]["value"][1]) > moment:
                [up] = self.query('up{job="sidelight"}')
                assert up["value"][1] == "1", "the server does not answer"
                return
            assert time.monotonic() < deadline, "Prometheus does not scrape the server"
            select.select([], [], [], 0.05)

    def _listening_address(self) -> str:
        log = ""
        for line in self.process.stderr:
            log += line
            if "Server is ready to receive web requests" in line:
                return re.search(r'msg="Listening on" address=(\S+)', log)[1]
        raise RuntimeError(log)
