"""A network link with delay, jitter, loss, a rate and a queue, between two network namespaces.

Linux's own emulator (`netem`) is missing in many kernels. A child process forwards the packets
between two TUN devices, each in a network namespace without a name. Devices and namespaces
disappear with the child, which ends when its parent does.
"""

import ctypes
import dataclasses
import fcntl
import gc
import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from typing import Self

CLIENT, SERVER = 0, 1
ADDRESSES = ("10.77.0.1", "10.77.0.2")

_START_SECONDS = 10
_CLONE_NEWNET, _CLONE_NEWUSER = 0x40000000, 0x10000000
_IFF_TUN, _IFF_NO_PI = 0x1, 0x1000
_TUNSETIFF = 0x400454CA
_SIOCSIFADDR, _SIOCSIFNETMASK, _SIOCSIFFLAGS = 0x8916, 0x891C, 0x8914
_IFF_UP, _IFF_RUNNING = 0x1, 0x40


class LinkUnavailable(Exception):
    """The reason why there can be no link here."""


@dataclasses.dataclass(frozen=True)
class Conditions:
    """The conditions in one direction."""

    # Bits per second, of IP packets.
    rate: float
    # The time on the way, in seconds, without the time in the queue.
    delay: float = 0.0
    # The greatest additional time on the way, in seconds. Packets keep their order.
    jitter: float = 0.0
    # The share of packets that are lost; 1 is a cut.
    loss: float = 0.0
    # The bytes that may wait for the packet that is sent. Further packets are lost.
    queue: int = 64 << 10

    @property
    def cut(self) -> "Conditions":
        """The same link while it loses everything."""
        return dataclasses.replace(self, loss=1.0)


class Link:
    """A running link. Its child process ends with the block."""

    def __init__(
        self, to_server: Conditions, to_client: Conditions | None = None, *, seed: int = 1
    ) -> None:
        """A link with a client's end and a server's end.

        - `to_client`: The conditions in the direction to the client. Default: the same.
        """
        self._conditions = (to_server, to_client or to_server)
        self._seed = seed

    def __enter__(self) -> Self:
        """Raises `LinkUnavailable`."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(_START_SECONDS)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()]
            )
        try:
            conditions = [dataclasses.asdict(each) for each in self._conditions]
            started = self._ask(seed=self._seed, conditions=conditions)
        except BaseException:
            self.__exit__()
            raise
        if "unavailable" in started:
            self.__exit__()
            raise LinkUnavailable(started["unavailable"])
        self._namespaces = started["namespaces"]
        self._user = started["user"]
        return self

    def __exit__(self, *_: object) -> None:
        self._control.close()
        self.process.wait()

    def command(self, end: int) -> list[str]:
        """The beginning of a command line that runs a program at an end of the link."""
        process = f"/proc/{self.process.pid}"
        user = ["--preserve-credentials", f"--user={process}/ns/user"] if self._user else []
        return ["nsenter", *user, f"--net={process}/fd/{self._namespaces[end]}"]

    def socket(self, end: int, kind: socket.SocketKind) -> socket.socket:
        """A new IPv4 socket at an end of the link."""
        self._request(socket=[end, kind])
        _, descriptors, _, _ = socket.recv_fds(self._control, 4096, 1)
        return socket.socket(fileno=descriptors[0])

    def change(
        self, to_server: Conditions, to_client: Conditions | None = None, *, after: float = 0.0
    ) -> float:
        """Changes the conditions after a time in seconds.

        Returns the monotonic time of the change. The packets that wait are sent at the new rate.
        """
        conditions = [dataclasses.asdict(each) for each in (to_server, to_client or to_server)]
        self._conditions = (to_server, to_client or to_server)
        return self._ask(change=conditions, after=after)["at"]

    def cut(self, seconds: float, *, after: float = 0.0) -> float:
        """Loses all packets in both directions for a time. Returns the time when it is over."""
        before = self._conditions
        self.change(*(each.cut for each in before), after=after)
        return self.change(*before, after=after + seconds)

    @property
    def counts(self) -> list[dict[str, float]]:
        """The packets in each direction: `received`, `delivered`, `lost` and `overflowed`; and the
        greatest time by which a delivery was late, `late`, in seconds."""
        return self._ask(counts=True)["counts"]

    def _request(self, **request: object) -> None:
        self._control.send(json.dumps(request).encode())

    def _ask(self, **request: object) -> dict:
        self._request(**request)
        return json.loads(self._control.recv(1 << 16) or b'{"unavailable": "the link ended"}')


# --- The child process --------------------------------------------------------------------------


class Direction:
    """The packets on their way from one device to the other, at times that the caller gives."""

    def __init__(self, source: int, target: int, conditions: Conditions, seed: int) -> None:
        self._source = source
        self._target = target
        self._random = random.Random(seed)
        self.conditions = conditions
        # Packets that wait to be sent, with their times of arrival.
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._waiting_bytes = 0
        # The time at which the packet that is sent now is sent.
        self._free_at = 0.0
        # Packets that are sent, with the times at which they arrive.
        self._travelling: deque[tuple[float, bytes]] = deque()
        self.counts = {"received": 0, "delivered": 0, "lost": 0, "overflowed": 0, "late": 0.0}

    def next_time(self) -> float:
        """The time of the next step."""
        time = self._travelling[0][0] if self._travelling else float("inf")
        return min(time, self._free_at) if self._waiting else time

    def read(self, now: float) -> None:
        """Takes the packets that the device offers."""
        for _ in range(64):
            try:
                packet = os.read(self._source, 2048)
            except BlockingIOError:
                return
            if packet[0] >> 4 != 4:
                continue  # The system's own announcements of IPv6 would vary what is lost.
            self.counts["received"] += 1
            if self._waiting_bytes + len(packet) > self.conditions.queue:
                self.counts["overflowed"] += 1
                continue
            self._waiting.append((now, packet))
            self._waiting_bytes += len(packet)

    def advance(self, now: float) -> None:
        """Sends and delivers the packets whose time has come."""
        conditions = self.conditions
        while self._waiting and self._free_at <= now:
            arrived, packet = self._waiting.popleft()
            self._waiting_bytes -= len(packet)
            self._free_at = max(self._free_at, arrived) + 8 * len(packet) / conditions.rate
            if self._random.random() < conditions.loss:
                self.counts["lost"] += 1
                continue
            jitter = self._random.random() * conditions.jitter
            arrival = self._free_at + conditions.delay + jitter
            if self._travelling:
                arrival = max(arrival, self._travelling[-1][0])
            self._travelling.append((arrival, packet))
        while self._travelling and self._travelling[0][0] <= now:
            arrival, packet = self._travelling.popleft()
            self.counts["late"] = max(self.counts["late"], now - arrival)
            try:
                os.write(self._target, packet)
                self.counts["delivered"] += 1
            except BlockingIOError:
                self.counts["overflowed"] += 1


class _Child:
    """The process that forwards the packets."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._changes: list[tuple[float, list[Conditions]]] = []

    def run(self) -> None:
        start = json.loads(self._control.recv(1 << 16))
        try:
            self._set_up()
        except OSError as error:
            self._reply(unavailable=f"{error.strerror} ({error.filename or 'namespaces'})")
            return
        tunnels = self._tunnels
        self._directions = [
            Direction(
                tunnels[end], tunnels[1 - end], Conditions(**start["conditions"][end]),
                2 * start["seed"] + end,
            )
            for end in (CLIENT, SERVER)
        ]
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except PermissionError:
            pass  # Times are less exact on a busy machine.
        gc.disable()
        self._reply(namespaces=self._namespaces, user=self._has_user_namespace)
        while self._forward():
            pass

    def _forward(self) -> bool:
        """Waits for one event. Returns `False` when the parent has ended."""
        times = [each.next_time() for each in self._directions]
        times += [change[0] for change in self._changes[:1]]
        timeout = min(1.0, max(0.0, min(times) - time.monotonic()))
        readable, _, _ = select.select([*self._tunnels, self._control], [], [], timeout)
        now = time.monotonic()
        while self._changes and self._changes[0][0] <= now:
            _, conditions = self._changes.pop(0)
            for direction, each in zip(self._directions, conditions):
                direction.conditions = each
        for direction, tunnel in zip(self._directions, self._tunnels):
            if tunnel in readable:
                direction.read(time.monotonic())
            direction.advance(time.monotonic())
        return self._control not in readable or self._answer()

    def _answer(self) -> bool:
        data = self._control.recv(1 << 16)
        if not data:
            return False
        request = json.loads(data)
        if "socket" in request:
            end, kind = request["socket"]
            self._enter(end)
            with socket.socket(socket.AF_INET, kind) as made:
                socket.send_fds(self._control, [b"socket"], [made.fileno()])
        elif "change" in request:
            at = time.monotonic() + request["after"]
            self._changes.append((at, [Conditions(**each) for each in request["change"]]))
            self._changes.sort(key=lambda change: change[0])
            self._reply(at=at)
        else:
            self._reply(counts=[each.counts for each in self._directions])
        return True

    def _reply(self, **reply: object) -> None:
        self._control.send(json.dumps(reply).encode())

    # Namespaces and devices

    def _set_up(self) -> None:
        self._has_user_namespace = False
        user, group = os.getuid(), os.getgid()
        try:
            self._unshare(_CLONE_NEWNET)
        except PermissionError:
            # Inside a separate user namespace every user may create a network.
            self._unshare(_CLONE_NEWUSER)
            self._has_user_namespace = True
            self._write("/proc/self/setgroups", "deny")
            self._write("/proc/self/uid_map", f"0 {user} 1")
            self._write("/proc/self/gid_map", f"0 {group} 1")
            self._unshare(_CLONE_NEWNET)
        self._namespaces, self._tunnels = [], []
        for address in ADDRESSES:
            if self._namespaces:
                self._unshare(_CLONE_NEWNET)
            self._namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY))
            self._tunnels.append(self._tunnel(address))

    def _tunnel(self, address: str) -> int:
        """Creates a device with an address in this process' namespace."""
        tunnel = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        name = b"link"
        fcntl.ioctl(tunnel, _TUNSETIFF, struct.pack("16sH22x", name, _IFF_TUN | _IFF_NO_PI))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            for code, value in ((_SIOCSIFADDR, address), (_SIOCSIFNETMASK, "255.255.255.0")):
                packed = socket.inet_aton(value)
                request = struct.pack("16sHH4s16x", name, socket.AF_INET, 0, packed)
                fcntl.ioctl(control, code, request)
            for interface in (name, b"lo"):
                flags = struct.pack("16sH22x", interface, _IFF_UP | _IFF_RUNNING)
                fcntl.ioctl(control, _SIOCSIFFLAGS, flags)
        return tunnel

    def _enter(self, end: int) -> None:
        self._check(self._libc.setns(self._namespaces[end], _CLONE_NEWNET))

    def _unshare(self, flags: int) -> None:
        self._check(self._libc.unshare(flags))

    @staticmethod
    def _check(result: int) -> None:
        if result:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))

    @staticmethod
    def _write(path: str, text: str) -> None:
        with open(path, "w") as file:
            file.write(text)


if __name__ == "__main__":
    _Child(socket.socket(fileno=int(sys.argv[1]))).run()
