"""A Docker Swarm on the machines of a fleet: three managers that run the built image as a service, and the
drills that Swarm performs.

The service is global, in the networks of the machines: every machine has one server, at the machine's
address. Published ports would need IPVS, which not every kernel has.

Processes, mounts and Docker's files in `/run` end with the namespaces of this process, which `dev/bench` creates.
"""

import contextlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Self

from fleet import ADMIN_PORT, SERVER_PORT, Fleet, Node, command
from sidelight_testing.contract import REPOSITORY
from sidelight_testing.process import wait_until

MANAGERS = 3
SERVICE, NEXT, SECRET = "sidelight", "sidelight:next", "resume-keys"
# `dev/bench` removes the groups of this name.
CONTROL_GROUP = "/sidelight-fleet"
SERVE = (
    "serve", "--listen", f"0.0.0.0:{SERVER_PORT}", "--admin", f"0.0.0.0:{ADMIN_PORT}", "--log-format", "json",
    "--resume-keys-file", f"/run/secrets/{SECRET}", "--max-sessions", "1024",
    "--max-sessions-per-caller", "1024", "--max-load", "0",
)


def built_image() -> Path:
    """The archive with the newest image."""
    found = sorted(
        (REPOSITORY / "out/packages").glob("sidelight_*.image.tar"), key=lambda each: each.stat().st_mtime)
    if not found:
        sys.exit("out/packages has no sidelight_*.image.tar; run make packages PART='deb images'")
    return found[-1]


class Engine(Node):
    """A machine with a Docker engine."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self._socket = f"unix:///run/docker{number}.sock"
        self._folder = tempfile.TemporaryDirectory(prefix="docker-", ignore_cleanup_errors=True)
        self._log = Path(self._folder.name) / "log"

    def __enter__(self) -> Self:
        super().__enter__()
        state = f"/run/docker{self.host}"
        with self._log.open("wb") as log:
            self._daemon = subprocess.Popen(
                [
                    *self.command, "dockerd", "--host", self._socket, "--data-root", f"{self._folder.name}/data",
                    "--exec-root", state, "--pidfile", f"{state}.pid", "--storage-driver", "overlay2",
                    "--cgroup-parent", CONTROL_GROUP, "--bridge", "none",
                    # The default, -500, needs a capability that sandboxes lack.
                    "--oom-score-adjust", "0",
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
        wait_until(self._answers)
        self.id = ""
        return self

    def __exit__(self, *_: object) -> None:
        self._daemon.kill()
        self._daemon.wait()
        super().__exit__()

    def docker(self, *words: object, text: str | None = None) -> str:
        """The output of a command, which must succeed."""
        done = subprocess.run(
            ["docker", "--host", self._socket, *map(str, words)], input=text, capture_output=True, text=True,
            timeout=300,
        )
        if done.returncode:
            raise RuntimeError(f"docker {words[0]} {words[1]}: {done.stderr.strip()[-1000:]}")
        return done.stdout.strip()

    def signal_servers(self, signal: str) -> None:
        for each in self.docker("ps", "--quiet").split():
            self.docker("kill", "--signal", signal, each)

    def is_serving(self) -> bool:
        """Whether a server on this machine accepts sessions."""
        try:
            with urllib.request.urlopen(f"http://{self.host}:{ADMIN_PORT}/readyz", timeout=5):
                return True
        except OSError:
            return False

    def _answers(self) -> bool:
        if self._daemon.poll() is not None:
            sys.exit("dockerd cannot run here:\n" + "\n".join(self._log.read_text().splitlines()[-5:]))
        done = subprocess.run(["docker", "--host", self._socket, "info"], capture_output=True)
        return done.returncode == 0


class Swarm:
    """Managers with the service, until the block ends."""

    title = "Docker Swarm"

    def __init__(self, keys: Path) -> None:
        """- `keys`: The file with the resume keys, which becomes a secret."""
        for program in ("dockerd", "docker"):
            if not shutil.which(program):
                sys.exit(f"{program} is missing and could not be installed (Debian: docker.io)")
        self._keys = keys
        self._archive = built_image()
        self.engines = [Engine(1 + index) for index in range(MANAGERS)]

    def __enter__(self) -> Self:
        # Files that engines share, and settings of this machine's own engine.
        Path("/etc/docker").mkdir(exist_ok=True)
        for folder in ("/run", "/etc/docker"):
            command("mount", "-t", "tmpfs", "tmpfs", folder)
        with contextlib.ExitStack() as stack:
            for engine in self.engines:
                stack.enter_context(engine)
            first, *others = self.engines
            first.docker("swarm", "init", "--advertise-addr", first.host)
            token = first.docker("swarm", "join-token", "--quiet", "manager")
            for engine in others:
                engine.docker("swarm", "join", "--advertise-addr", engine.host, "--token", token, first.host)
            for engine in self.engines:
                engine.id = engine.docker("info", "--format", "{{.Swarm.NodeID}}")
                loaded = engine.docker("load", "--input", self._archive)
                self.image = re.search(r"Loaded image: (\S+)", loaded)[1]
                engine.docker("tag", self.image, NEXT)
            self.version = first.docker("version", "--format", "{{.Server.Version}}")
            first.docker("secret", "create", SECRET, "-", text=self._keys.read_text())
            first.docker(
                "service", "create", "--detach", "--name", SERVICE, "--mode", "global", "--network", "host",
                "--no-resolve-image", "--secret", f"source={SECRET},uid=65532,gid=65532,mode=0400",
                "--read-only", "--mount", "type=tmpfs,target=/tmp", "--cap-drop", "ALL",
                # As TimeoutStopSec= in deploy/systemd; and time for clients to find a new server.
                "--stop-grace-period", "20s", "--update-delay", "2s", self.image, *SERVE,
            )
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def description(self) -> str:
        return f"""The machines are managers of a Swarm (Docker {self.version}). They run the image of
`make packages` as a global service in their networks, read-only and without capabilities. An update is
`docker service update` with another image, a drain `docker node update --availability drain`, a kill
`docker kill`, a freeze its SIGSTOP. For the direct update, servers name others to their sessions (`fleet.rebalance`).
A global service is scaled down by a drain. Swarm's secrets do not change: other resume keys are an update."""

    def fleet(self, proxies: int) -> "SwarmFleet":
        return SwarmFleet(self, proxies)

    def manage(self, *words: object) -> str:
        """The output of a command to a manager that no drill cuts off."""
        return self.engines[-1].docker(*words)

    def restore(self) -> None:
        """Waits until every machine is connected, active, and has a server."""
        for engine in self.engines:
            engine.connect()
            # One may end meanwhile.
            with contextlib.suppress(RuntimeError):
                engine.signal_servers("CONT")
        wait_until(self._is_complete, lambda: self.manage("node", "ls"))
        for engine in self.engines:
            self.manage("node", "update", "--availability", "active", engine.id)
            wait_until(engine.is_serving, lambda: self.manage("service", "ps", "--no-trunc", SERVICE))

    def _is_complete(self) -> bool:
        states = self.manage("node", "ls", "--format", "{{.Status}} {{.ManagerStatus}}").splitlines()
        return sorted(states) == ["Ready Leader", *["Ready Reachable"] * (MANAGERS - 1)]


class SwarmFleet(Fleet):
    """The service as a fleet. Its machines and servers stay when the block ends."""

    def __init__(self, swarm: Swarm, proxies: int) -> None:
        super().__init__(Path(), proxies, servers=0)
        self.swarm = swarm
        self.nodes = list(swarm.engines)
        self.samples = [[] for _ in self.nodes]

    def start_servers(self) -> None:
        self.swarm.restore()

    @property
    def server_hosts(self) -> list[str]:
        return [node.host for node in self.nodes]


# Drills. They get a `Run` of a fleet.


def update(run) -> None:
    swarm: Swarm = run.fleet.swarm
    task = "{{json .Spec.TaskTemplate.ContainerSpec.Image}}"
    current = json.loads(swarm.manage("service", "inspect", "--format", task, SERVICE))
    image = swarm.image if current == NEXT else NEXT
    # Returns when the new tasks have been stable for 5 s.
    swarm.manage("service", "update", "--quiet", "--no-resolve-image", "--image", image, SERVICE)
    run.fleet.wait_until_balanced()


def update_directly(run) -> None:
    """As `update`, of servers that name others to their sessions when they shut down."""
    peers = ",".join(f"{host}:{SERVER_PORT}" for host in run.fleet.server_hosts)
    run.fleet.swarm.manage(
        "service", "update", "--quiet", "--no-resolve-image", "--env-add", "SIDELIGHT_FLEET_REBALANCE=direct",
        "--env-add", f"SIDELIGHT_FLEET_PEERS={peers}", SERVICE)
    run.began = time.monotonic()
    update(run)


def drain(run) -> None:
    engine: Engine = run.fleet.nodes[0]
    run.fleet.swarm.manage("node", "update", "--availability", "drain", engine.id)
    wait_until(lambda: not engine.docker("ps", "--quiet"))


def kill(run) -> None:
    run.fleet.nodes[0].signal_servers("KILL")


def freeze(run) -> None:
    run.fleet.nodes[0].signal_servers("STOP")
