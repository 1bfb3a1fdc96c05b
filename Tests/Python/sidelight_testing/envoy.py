"""Envoy in front of servers, with the file in deploy/."""

import json
import os
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import yaml

from .contract import REPOSITORY

CONFIGURATION = REPOSITORY / "deploy/envoy/envoy.yaml"
# Where dev/python installs the wheel of Envoy.
PROGRAM = REPOSITORY / ".venv/envoy/envoy/_bin/envoy"
START_SECONDS = 60


class Envoy:
    """An Envoy process. Ended by its process id at the end of the block.

    Its clusters have these servers.

    - `within`: The beginning of the command line, such as `Link.command`.
    - `host`, `port`: Its address; port 0 is the system's choice.
    """

    def __init__(
        self, addresses: list[str], *, within: Sequence[str] = (), host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self._within = within
        self._folder = tempfile.TemporaryDirectory(prefix="sidelight-envoy-")
        folder = Path(self._folder.name)
        document = yaml.safe_load(CONFIGURATION.read_text())
        resources = document["static_resources"]
        for socket, number in ((document["admin"], 0), (resources["listeners"][0], port)):
            socket["address"]["socket_address"] = {"address": host, "port_value": number}
        endpoints = [address.rpartition(":") for address in addresses]
        for cluster in resources["clusters"]:
            cluster["load_assignment"]["endpoints"][0]["lb_endpoints"] = [
                {"endpoint": {"address": {"socket_address": {"address": host, "port_value": int(port)}}}}
                for host, _, port in endpoints
            ]
        self._configuration = folder / "envoy.yaml"
        self._configuration.write_text(yaml.safe_dump(document))
        self._admin = folder / "admin"
        self._log = open(folder / "log", "w+b")

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [*self._within, PROGRAM, "--config-path", self._configuration, "--admin-address-path", self._admin,
             "--use-dynamic-base-id", "--concurrency", "1"],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
        )
        deadline = time.monotonic() + START_SECONDS
        while not (self._admin.is_file() and self._admin.read_text()):
            assert self.process.poll() is None and time.monotonic() < deadline, self.log
            time.sleep(0.02)
        [listener] = self._ask("listeners?format=json")["listener_statuses"]
        socket = listener["local_address"]["socket_address"]
        self.address = f"{socket['address']}:{socket['port_value']}"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._log.close()
        self._folder.cleanup()

    @property
    def log(self) -> str:
        """The proxy's log."""
        # Not by the open file: the process moves its position while it writes.
        return Path(self._log.name).read_bytes().decode(errors="replace")

    def states(self) -> dict[str, str]:
        """The state of the servers as Envoy sees it, in order: `DOWN` in one cluster is `DOWN`, else `UP`."""
        states: dict[str, str] = {}
        for address, host in self._hosts():
            failed = host["health_status"].get("failed_active_health_check")
            states[address] = "DOWN" if failed or states.get(address) == "DOWN" else "UP"
        return states

    def weights(self) -> dict[str, int]:
        """The weights by which the servers get sessions without a group."""
        return {address: host["weight"] for address, host in self._hosts("sidelight")}

    def _hosts(self, cluster: str = "") -> list[tuple[str, dict]]:
        return [
            ("{address}:{port_value}".format(**host["address"]["socket_address"]), host)
            for each in self._ask("clusters?format=json")["cluster_statuses"]
            if cluster in ("", each["name"])
            for host in each.get("host_statuses", [])
        ]

    def _ask(self, path: str) -> dict:
        with urllib.request.urlopen(f"http://{self._admin.read_text()}/{path}", timeout=60) as got:
            return json.load(got)
