"""A Prometheus process that scrapes a server."""

import contextlib
import json
import select
import shutil
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Self

import pytest

from .programs import Program

WAIT_SECONDS = 60
LISTENING_OR_READY = (
    r'.*msg="(?:Listening on" address=(?P<address>\S+)|Server is ready to receive web requests).*'
)


def needs(*commands: str) -> pytest.MarkDecorator:
    """Skips tests whose commands are not installed."""
    missing = [each for each in commands if shutil.which(each) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


class Prometheus:
    """A Prometheus process. Ended by its own process id, at the latest when the block ends.

    It scrapes a server, or what other fields of its configuration find.
    """

    def __init__(self, target: str = "", **scrape: object) -> None:
        self._scrape = scrape or {"static_configs": [{"targets": [target]}]}

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sidelight-")))
            configuration = {
                "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
                "scrape_configs": [{"job_name": "sidelight", **self._scrape}],
            }
            # JSON is YAML too.
            (folder / "prometheus.yml").write_text(json.dumps(configuration))
            program = stack.enter_context(
                Program(
                    "prometheus",
                    f"--config.file={folder / 'prometheus.yml'}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    "--web.listen-address=127.0.0.1:0",
                )
            )
            # Two threads write these lines, in any order.
            lines = [program.wait_for(LISTENING_OR_READY) for _ in range(2)]
            [address] = [line["address"] for line in lines if line["address"]]
            self.url = f"http://{address}"
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def query(self, expression: str, moment: float | None = None) -> list:
        """Evaluates an expression at a point in time, and returns its series.

        `None` means now. Fails if the expression is invalid.
        """
        fields = {"query": expression} | ({} if moment is None else {"time": moment})
        url = f"{self.url}/api/v1/query?{urllib.parse.urlencode(fields)}"
        with urllib.request.urlopen(url, timeout=WAIT_SECONDS) as answer:
            result = json.load(answer)
        assert result["status"] == "success", result
        return result["data"]["result"]

    def wait_for_scrape_after(self, moment: float) -> float:
        """Waits for a successful scrape that began after a point in time, and returns its time."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            # Not of an expression's result, which is as old as the question.
            found = self.query(
                'timestamp(up{job="sidelight"}) and on (instance) up{job="sidelight"} == 1'
            )
            if found and float(found[0]["value"][1]) > moment:
                return float(found[0]["value"][1])
            assert time.monotonic() < deadline, "Prometheus does not scrape the server"
            select.select([], [], [], 0.05)
