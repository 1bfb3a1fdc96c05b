"""A client that sends frames at a constant rate, resumes its session after a lost connection, and
reports lost frames."""

import itertools
import threading
import time
from dataclasses import dataclass
from typing import Self

import grpc

from . import images
from .contract import service
from .contract import session as messages
from .session import Session, pipeline

RETRY_SECONDS = 0.05
LOST, DISCONNECTED = "lost", "disconnected"


@dataclass
class Resumption:
    """The resumption of a session."""

    code: grpc.StatusCode
    revision: int
    lost: list[int]
    seconds: float


class ResumingClient:
    """A session that is resumed after lost connections.

    A frame is due at every tick. It ends as `frame`, as the name of the reason why the server
    dropped it, as `lost` if its connection ended before it had an outcome, or as `disconnected`
    without a connection.
    """

    def __init__(self, channel: grpc.Channel, rate: float = 30) -> None:
        self._stub = service.FrameFilterStub(channel)
        self._rate = rate
        self._changed = threading.Condition()
        self._session: Session | None = None
        self._token = b""
        self._sequence = 0
        self._pending: set[int] = set()
        self._sent_here: list[int] = []
        self._selected_at: int | None = None
        self._finishing = False
        self._picture = images.noise("GRAY8", 64, 48)
        self._inverted = bytes(255 - each for each in self._picture.inline)
        self.outcomes: dict[int, str] = {}
        self.resumptions: list[Resumption] = []
        self.faults: list[str] = []
        self.is_selected = False
        self._threads = [threading.Thread(target=each) for each in (self._send, self._receive)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._finishing = True
            if self._session is not None:
                self._session.half_close()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def select_inversion(self) -> None:
        """Changes the selection: from the next frame on every frame is inverted."""
        with self._changed:
            self._selected_at = self._sequence + 1
            self._session.select(pipeline("colorInvert"), request_id=1)

    def wait_until(self, holds, seconds: float) -> None:
        """Waits until a condition of this client is true; fails after a time."""
        with self._changed:
            assert self._changed.wait_for(lambda: holds(self), seconds), "it took too long"

    def verify(self) -> None:
        """Checks that every frame has one outcome, by the client's selection at its time."""
        assert not self.faults, self.faults
        assert not self._pending
        assert sorted(self.outcomes) == list(range(1, self._sequence + 1))
        for each in self.resumptions:
            # The last frames of a connection, and none before one that came back.
            for lost, after in itertools.pairwise(each.lost):
                assert after == lost + 1, each

    @property
    def filtered(self) -> int:
        """The number of returned frames."""
        return sum(each == "frame" for each in list(self.outcomes.values()))

    def _send(self) -> None:
        due = time.monotonic()
        while True:
            due += 1 / self._rate
            with self._changed:
                if self._changed.wait_for(lambda: self._finishing, max(0, due - time.monotonic())):
                    return
                self._sequence += 1
                if self._session is None:
                    self.outcomes[self._sequence] = DISCONNECTED
                    continue
                self._pending.add(self._sequence)
                self._sent_here.append(self._sequence)
                self._session.send_frame(self._picture, sequence=self._sequence)

    def _receive(self) -> None:
        ended: tuple[float, grpc.StatusCode, list[int]] | None = None
        while not self._finishing:
            try:
                session = self._open()
            except grpc.RpcError:
                with self._changed:
                    self._changed.wait_for(lambda: self._finishing, RETRY_SECONDS)
                continue
            with self._changed:
                self._session, self._sent_here = session, []
                if ended:
                    elapsed = time.monotonic() - ended[0]
                    self.resumptions.append(
                        Resumption(ended[1], session.opened.revision, ended[2], elapsed)
                    )
                if self._finishing:
                    session.half_close()
                self._changed.notify_all()
            try:
                while True:
                    self._note(session.receive())
            except (grpc.RpcError, StopIteration) as end:
                session.half_close()  # whatever still waits to be sent
                with self._changed:
                    self._session = None
                    lost = sorted(self._pending)
                    for sequence in lost:
                        self.outcomes[sequence] = LOST
                    self._pending.clear()
                    if isinstance(end, StopIteration):
                        return
                    ended = (time.monotonic(), end.code(), lost)

    def _open(self) -> Session:
        fields = {"resume_token": self._token} if self._token else {}
        session = Session(self._stub, seconds=600, **fields)
        self._token = session.opened.resume_token
        return session

    def _note(self, message: messages.ServerMessage) -> None:
        with self._changed:
            match message.WhichOneof("kind"):
                case "frame":
                    self._end(message.frame.sequence, "frame")
                    self._check_picture(message.frame)
                case "dropped":
                    run = message.dropped
                    span = range(run.first_sequence, run.last_sequence + 1)
                    meant = [each for each in self._sent_here if each in span]
                    if len(meant) != run.count:
                        self.faults.append(f"{run} names {len(meant)} frames")
                    for sequence in meant:
                        self._end(sequence, messages.DropReason.Name(run.reason))
                case "applied":
                    self._token = message.applied.resume_token
                    self.is_selected |= message.applied.request_id == 1
                case "state":
                    self._token = message.state.resume_token or self._token
                case "error":
                    self.faults.append(str(message.error))
            self._changed.notify_all()

    def _end(self, sequence: int, outcome: str) -> None:
        if sequence not in self._pending:
            self.faults.append(
                f"{sequence} ended as {outcome}, and before as "
                f"{self.outcomes.get(sequence, 'never sent')}"
            )
        self._pending.discard(sequence)
        self.outcomes[sequence] = outcome

    def _check_picture(self, frame: messages.FilteredFrame) -> None:
        is_later = self._selected_at is not None and frame.sequence >= self._selected_at
        if frame.image.inline != (self._inverted if is_later else self._picture.inline):
            self.faults.append(f"{frame.sequence} was filtered by another selection")
