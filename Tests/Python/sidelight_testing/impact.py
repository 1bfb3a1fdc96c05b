"""The effect of an attack on the other clients' frames, on probes, and on the server's memory."""

import contextlib
import http.client
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import grpc

from .contract import frame_filter, service
from .load import Load
from .process import resident_bytes
from .server import Server, connect

BYSTANDERS = 10
FRAMES_PER_SECOND = 10
# Longer than a client waits on a busy machine of two processors, and far shorter than the stalls
# that floods of tiny messages caused: 4 to 125 s.
MAX_SECONDS = 3.0
MAX_GROWTH_BYTES = 128 << 20
PROBE_TIMEOUT_SECONDS = 60
SAMPLE_SECONDS = 0.05


class Probe:
    """A question that is asked again and again on a thread, and the longest time without an
    answer."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self._ask = ask
        self._done = threading.Event()
        self._begun: float | None = None
        self._longest = 0.0
        self._thread = threading.Thread(target=self._run)
        self.failure: str | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def longest(self) -> float:
        """The longest time that an answer took, in seconds, the one that is awaited included."""
        begun = self._begun
        return max(self._longest, time.monotonic() - begun if begun is not None else 0)

    def _run(self) -> None:
        while not self._done.wait(SAMPLE_SECONDS):
            begun = self._begun = time.monotonic()
            try:
                self._ask()
            except (grpc.RpcError, OSError, http.client.HTTPException) as failure:
                self.failure = repr(failure)
            self._longest = max(self._longest, time.monotonic() - begun)
            self._begun = None


@dataclass(repr=False)
class Harm:
    """The worst that was noticed, in seconds and bytes."""

    frame_seconds: float = 0
    info_seconds: float = 0
    livez_seconds: float = 0
    growth_bytes: int = 0
    failures: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return (
            f"a frame waited {self.frame_seconds:.1f} s for its outcome, GetServerInfo "
            f"{self.info_seconds:.1f} s, /livez {self.livez_seconds:.1f} s for an answer, and "
            f"resident memory grew by {self.growth_bytes >> 20} MiB; failures: {self.failures}"
        )

    @property
    def is_bearable(self) -> bool:
        """Whether all figures are within the limits."""
        waits = (self.frame_seconds, self.info_seconds, self.livez_seconds)
        within = max(waits) <= MAX_SECONDS and self.growth_bytes <= MAX_GROWTH_BYTES
        return within and not self.failures


class Impact:
    """Ten bystanders and the probes, during whatever happens to a server in the block.

    The server has an admin endpoint. The bystanders' connections come in sequence, so they
    are spread over the server's event loops, and so are the probes'.
    """

    def __init__(
        self, server: Server, probe_seconds: float = PROBE_TIMEOUT_SECONDS, bystanders=BYSTANDERS
    ) -> None:
        self._server = server
        self._timeout = probe_seconds
        self._bystanders = bystanders
        self._stack = contextlib.ExitStack()
        self.harm = Harm()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            address = self._server.addresses["tcp"]
            load = Load(address, self._bystanders, FRAMES_PER_SECOND, (64, 48), ["colorInvert"])
            self._load = stack.enter_context(load)
            self._infos = []
            for _ in range(2):
                channel = stack.enter_context(connect(address))
                stub = service.FrameFilterStub(channel)
                self._info(stub)
                self._infos.append(
                    stack.enter_context(Probe(lambda stub=stub: self._info(stub)))
                )
            self._livez = stack.enter_context(Probe(self._ask_livez))
            self._stack = stack.pop_all()
        # Bystanders run before memory is measured: their memory does not count as harm.
        time.sleep(1)
        self._load.window()
        self._baseline = resident_bytes(self._server.process)
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.__exit__(*exception)

    def watch(self, seconds: float) -> Harm:
        """Watches for a time, or until harm is done that is not bearable. Returns the worst so
        far."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._sample().is_bearable:
            time.sleep(SAMPLE_SECONDS)
        return self.harm

    def finish(self) -> Harm:
        """Ends the bystanders' sessions: every frame must have come back."""
        ended = self._load.finish()
        if ended["sent"] != ended["came"]:
            self.harm.failures.append(f"{ended['sent'] - ended['came']} frames were lost")
        self.harm.failures += ended["trouble"]
        return self.harm

    def _sample(self) -> Harm:
        harm = self.harm
        assert self._server.process.poll() is None, f"the server ended:\n{self._server.log}"
        resident = resident_bytes(self._server.process)
        harm.growth_bytes = max(harm.growth_bytes, resident - self._baseline)
        window = self._load.window()
        waits = [window["waiting"], *window["latencies"][-1:]]
        harm.frame_seconds = max(harm.frame_seconds, max(waits) / 1000)
        harm.info_seconds = max(each.longest for each in self._infos)
        harm.livez_seconds = self._livez.longest
        probes = [*self._infos, self._livez]
        harm.failures = [each.failure for each in probes if each.failure] + window["trouble"]
        return harm

    def _info(self, stub) -> None:
        stub.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=self._timeout)

    def _ask_livez(self) -> None:
        host, _, port = self._server.addresses["admin"].rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=self._timeout)
        with contextlib.closing(connection):
            connection.request("GET", "/livez")
            answer = connection.getresponse()
            assert answer.status == 200 and answer.read() == b"ok\n"
