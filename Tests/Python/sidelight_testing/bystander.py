"""A well-behaved client next to attackers."""

import threading
from typing import Self


from . import images
from .contract import frame_filter, service
from .contract import session as messages
from .server import connect
from .session import Session, pipeline

# The time in which the state of a closed peer is released.
GONE_SECONDS = 60


class Bystander:
    """A session that runs during an attack, on a separate connection: it sends frames one at a
    time, and misses no outcome."""

    def __init__(self, server) -> None:
        self._channel = connect(server.addresses["tcp"])
        self._stub = service.FrameFilterStub(self._channel)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.frames = 0
        self.trouble: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._channel.close()
        if kind is None:
            assert self.trouble is None, f"a bystander was hurt: {self.trouble!r}"
            assert self.frames > 0

    def load(self):
        """The load that the server reports."""
        return self._stub.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=60).load

    def _run(self) -> None:
        picture = images.noise("I420", 64, 64)
        try:
            never = messages.DROP_POLICY_NEVER_DROP
            look = pipeline("colorInvert")
            with Session(self._stub, pipeline=look, drop_policy=never) as session:
                while not self._done.is_set() or self.frames == 0:
                    sequence = session.send_frame(picture)
                    assert session.receive_until("frame").sequence == sequence
                    self.frames += 1
                assert not session.finish().dropped
        except BaseException as trouble:
            self.trouble = trouble
