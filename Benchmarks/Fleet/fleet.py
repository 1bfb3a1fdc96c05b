"""Servers, proxies and call servers on machines of their own: network namespaces that a bridge joins.

This process has to have a network of its own, in which the bridge is created (`unshare --net`), and
mounts of its own, for the names of servers and proxies. All disappear with the process.
"""

import contextlib
import json
import re
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Self

from sidelight_testing.contract import REPOSITORY
from sidelight_testing.envoy import Envoy
from sidelight_testing.etcd import Etcd
from sidelight_testing.process import wait_until
from sidelight_testing.programs import Program
from sidelight_testing.server import Server

NETWORK = "10.77.0"
SERVER_PORT, PROXY_PORT, ADMIN_PORT = 50051, 50050, 9464
CALL_SERVERS = 3
# The limit on sessions of the first server; others have the next numbers.
SESSIONS = 1024
CALL_SERVER = Path(__file__).with_name("call_server.py")
CLIENT = REPOSITORY / "clients/python/src"
# The seconds between two looks at a server's counts.
SAMPLE_SECONDS = 0.2


def command(*words: object) -> None:
    subprocess.run([str(each) for each in words], check=True, timeout=30)


def create_bridge() -> None:
    """Creates the bridge in the network of this process."""
    command("ip", "link", "set", "lo", "up")
    command("ip", "link", "add", "bridge", "type", "bridge")
    command("ip", "address", "add", f"{NETWORK}.254/24", "dev", "bridge")
    command("ip", "link", "set", "bridge", "up")


def gauge(host: str, name: str) -> float:
    """A server's metric without labels."""
    with urllib.request.urlopen(f"http://{host}:{ADMIN_PORT}/metrics", timeout=5) as answer:
        return float(re.search(rf"^{name} (\S+)", answer.read().decode(), re.MULTILINE)[1])


class Node:
    """A machine: a network namespace that ends with the block."""

    # The namespaces of its own.
    namespaces: tuple[str, ...] = ("net",)

    def __init__(self, number: int) -> None:
        self.host = f"{NETWORK}.{number}"
        self._device = f"node{number}"

    def __enter__(self) -> Self:
        # Ends when this process does, whatever ends it.
        self._process = subprocess.Popen(
            ["unshare", *(f"--{each}" for each in self.namespaces), "sh", "-c", "echo ready; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        assert self._process.stdout.readline() == b"ready\n", "no network namespace"
        pid = self._process.pid
        command("ip", "link", "add", self._device, "type", "veth", "peer", "name", "eth0", "netns", pid)
        self.connect()
        command("ip", "link", "set", self._device, "up")
        for words in (
            ("address", "add", f"{self.host}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("link", "set", "lo", "up"),
        ):
            command(*self.command, "ip", *words)
        return self

    def __exit__(self, *_: object) -> None:
        # It may have gone with a namespace.
        subprocess.run(["ip", "link", "delete", self._device], capture_output=True)
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    @property
    def command(self) -> list[str]:
        """The beginning of a command line that runs a program on the machine."""
        files = {"net": "net", "mount": "mnt"}
        return ["nsenter", *(f"--{each}=/proc/{self._process.pid}/ns/{files[each]}" for each in self.namespaces)]

    def cut(self) -> None:
        """Loses all packets from and to the machine from now on."""
        command("ip", "link", "set", self._device, "nomaster")

    def connect(self) -> None:
        command("ip", "link", "set", self._device, "master", "bridge")


class Fleet:
    """Three servers that share their resume keys, with proxies in front.

    - `shares_state`: Whether they share overrides and quotas through an etcd.
    - `started`: The servers that run at first.
    - `rebalances`: `--rebalance` of servers that know each other. They have one thread for filters.
    """

    def __init__(
        self, keys: Path, proxies: int = 1, servers: int = 3, shares_state: bool = False,
        sessions_per_caller: int = 1024, started: int | None = None, rebalances: str = "",
    ) -> None:
        self.keys = keys
        self._started = started
        self._rebalances = rebalances
        self._sessions_per_caller = sessions_per_caller
        self.nodes = [Node(1 + index) for index in range(servers)]
        self.proxy_nodes = [Node(11 + index) for index in range(proxies)]
        self.call_nodes = [Node(21 + index) for index in range(CALL_SERVERS)]
        self.etcd_nodes = [Node(31)] if shares_state else []
        self.etcd: Etcd | None = None
        # The nodes that this object creates and removes.
        self._own_nodes = [*self.nodes, *self.proxy_nodes, *self.call_nodes, *self.etcd_nodes]
        # Servers and proxies; one that ended is replaced.
        self.servers: list[Server] = []
        self.proxies: list[Envoy] = []
        # For each server the times and counts of frames that it sent back.
        self.samples: list[list[tuple[float, int]]] = [[] for _ in self.nodes]

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            for node in self._own_nodes:
                stack.enter_context(node)
            self._ended = threading.Event()
            self._processes = stack.enter_context(contextlib.ExitStack())
            for node in self.etcd_nodes:
                self.etcd = self._processes.enter_context(Etcd(node.command, node.host))
            self.start_servers()
            self.proxies = [self.start_proxy(index) for index in range(len(self.proxy_nodes))]
            self.write_names()
            watchers = [
                threading.Thread(target=self._watch, args=(index,)) for index in range(len(self.nodes))
            ]
            stack.callback(lambda: [each.join() for each in watchers])
            stack.callback(self._ended.set)
            for each in watchers:
                each.start()
            self._stack = stack.pop_all()
        self.wait_until_balanced()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def server_hosts(self) -> list[str]:
        """The addresses of the servers that run, which clients find by the name `servers`."""
        return [node.host for node, _ in zip(self.nodes, self.servers)]

    def write_names(self) -> None:
        names = {"servers": self.server_hosts, "proxies": [node.host for node in self.proxy_nodes]}
        Path("/etc/hosts").write_text("127.0.0.1 localhost\n" + "".join(
            f"{host} {name}\n" for name, hosts in names.items() for host in hosts
        ))

    def start_servers(self) -> None:
        for _ in self.nodes[:self._started]:
            self.add_server()

    def add_server(self) -> None:
        self.servers.append(self.start_server(len(self.servers)))
        self.write_names()

    def publish_keys(self) -> None:
        """Gives the servers the file with the resume keys, which they read again when it changes."""

    def start_server(self, index: int) -> Server:
        node = self.nodes[index]
        options = ["--fleet-etcd", f"http://{self.etcd.address}"] if self.etcd else []
        if self._rebalances:
            options += ["--rebalance", self._rebalances, "--compute-threads", "1"]
            for each in self.nodes:
                options += ["--peers", f"{each.host}:{SERVER_PORT}"]
        return self._processes.enter_context(Server(
            "--admin", f"{node.host}:{ADMIN_PORT}", "--resume-keys-file", self.keys, *options,
            # Tells clients behind a proxy which server they have.
            "--max-sessions", str(SESSIONS + index), "--max-sessions-per-caller", str(self._sessions_per_caller),
            "--max-load", "0",
            within=node.command, host=node.host, port=SERVER_PORT,
        ))

    def start_proxy(self, index: int) -> Envoy:
        node = self.proxy_nodes[index]
        return self._processes.enter_context(Envoy(
            [f"{each}:{SERVER_PORT}" for each in self.proxied],
            within=node.command, host=node.host, port=PROXY_PORT,
        ))

    @property
    def proxied(self) -> list[str]:
        """The addresses, or their name, that proxies are configured with."""
        return [node.host for node in self.nodes]

    def wait_until_balanced(self) -> None:
        """Waits until every proxy gives sessions to every server that runs."""
        for proxy in self.proxies:
            wait_until(lambda: self._up(proxy) == {f"{host}:{SERVER_PORT}" for host in self.server_hosts},
                       lambda: f"{proxy.states()}, not {self.server_hosts}")

    def _up(self, proxy: Envoy) -> set[str]:
        return {host for host, state in proxy.states().items() if state == "UP"}

    def _watch(self, index: int) -> None:
        url = f"http://{self.nodes[index].host}:{ADMIN_PORT}/metrics"
        while not self._ended.wait(SAMPLE_SECONDS):
            try:
                with urllib.request.urlopen(url, timeout=SAMPLE_SECONDS) as answer:
                    text = answer.read().decode()
            except OSError:
                continue
            found = re.findall(r'^sidelight_frames_total\{outcome="filtered".*\} (\d+)', text, re.M)
            self.samples[index].append((time.monotonic(), sum(map(int, found))))


class Calls:
    """Call servers with sessions that send frames until the block ends."""

    def __init__(
        self, fleet: Fleet, via: str, sessions: int = 30, frame_rate: float = 15,
        size: tuple[int, int] = (320, 180), pipeline: str = "colorInvert", fallback: str = "drop",
        picture: Path | None = None, more: int = 0, interval: float = 0, by_server: tuple[int, ...] = (),
    ) -> None:
        """- `picture`: A JPEG file that every frame is, as results then are; default: a raw picture.
        - `more`: Sessions that each `open_more` opens, `interval` seconds apart.
        - `by_server`: The sessions that each call server has at one server, in order, instead of `sessions`
          in all.
        """
        port = {"servers": SERVER_PORT, "proxies": PROXY_PORT}[via]
        hosts = [fleet.nodes[index].host if by_server else via for index in range(CALL_SERVERS)]
        counts = by_server or [sessions // CALL_SERVERS] * CALL_SERVERS
        self._programs = [
            Program(*node.command, "env", f"PYTHONPATH={CLIENT}", sys.executable, CALL_SERVER, json.dumps({
                "name": f"call{index}", "address": f"{hosts[index]}:{port}", "pipeline": pipeline,
                "sessions": counts[index], "frame_rate": frame_rate, "size": size,
                "fallback": fallback, "picture": picture and str(picture),
                "more": more // CALL_SERVERS,
            }))
            for index, node in enumerate(fleet.call_nodes)
        ]
        self._interval = interval

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            for each in self._programs:
                stack.enter_context(each)
            for each in self._programs:
                each.wait_for("ready")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open_more(self, interval: float | None = None) -> None:
        """Begins to open more sessions. `interval` replaces the seconds between them."""
        seconds = (self._interval if interval is None else interval) * CALL_SERVERS
        for each in self._programs:
            each.send(f"more {seconds}")

    def finish(self) -> list[dict]:
        """Ends the sessions, and returns their records."""
        for each in self._programs:
            each.send("")
        return [
            record
            for each in self._programs
            for record in json.loads(each.wait_for(r"\[.*\]")[0])
        ]
