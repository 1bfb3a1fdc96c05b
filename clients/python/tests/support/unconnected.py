"""A session without I/O: a test plays the server."""

from __future__ import annotations

from collections import deque
from typing import Any

from sidelight import Frame, Image, Server
from sidelight._channel import Endpoint
from sidelight._core.link import Link
from sidelight._core.machine import SessionMachine
from sidelight.v1 import session_pb2


class Answer:
    """A caller that waits for one value."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def resolve(self, value: Any) -> None:
        self.values.append(value)

    @property
    def value(self) -> Any:
        assert len(self.values) == 1, self.values
        return self.values[0]


class FakeRing:
    """Slots in ordinary memory, which are returned by hand."""

    def __init__(self, input_slots: int = 2, output_slots: int = 2, slot_bytes: int = 4096) -> None:
        self.input_slots, self.output_slots, self.slot_bytes = input_slots, output_slots, slot_bytes
        self.memory = [bytearray(slot_bytes) for _ in range(input_slots + output_slots)]
        self.lent: deque[Any] = deque()

    def view(self, slot: int, length: int, sequence: int, returned: Any) -> memoryview:
        self.lent.append((slot, sequence, returned))
        return memoryview(self.memory[slot])[:length]

    def give_back(self) -> None:
        """Returns all slots that are lent."""
        while self.lent:
            slot, sequence, returned = self.lent.popleft()
            returned.append((slot, sequence))

    def input_slot(self, view: memoryview) -> Any:
        for slot in range(self.input_slots):
            if view.obj is self.memory[slot]:
                return slot
        return None


class Unconnected:
    """A machine and its link, with a server that a test plays."""

    def __init__(self, pipeline: Any = None, *, has_credentials: bool = False, **options: Any):
        endpoint = Endpoint("127.0.0.1:1", None, None, None, None, (), ())
        session = Server(endpoint).session(pipeline, **options)
        self.machine = SessionMachine(session._machine.options, has_credentials)
        self.link = Link(self.machine)
        self.now = 100.0

    def open(self, capacity: int = 2, ring: Any = None, token: bytes = b"token") -> Any:
        """Opens a connection; returns the client's `Open`."""
        self.link.start(self.now, True)
        opening = self.written()
        assert [each.WhichOneof("kind") for each in opening] == ["open"]
        opened = session_pb2.Opened(
            session_id="s",
            frames_in_flight=capacity,
            revision=1,
            resume_token=token,
            output_window=opening[0].open.output_window if opening[0].open.outputs else 0,
            limits=session_pb2.Limits(max_outputs=4),
        )
        if ring is not None:
            opened.shared_memory.socket_path = "/nowhere"
        fetch = self.reply(opened=opened)
        if ring is not None:
            assert fetch.session_id == "s"
            self.link.finish_opening(ring, self.now)
        return opening[0].open

    def reply(self, **kind: Any) -> Any:
        """Hands a message of the server to the session."""
        data = session_pb2.ServerMessage(**kind).SerializeToString()
        result = self.link.receive(data, self.now)
        self.perform()
        return result

    def written(self) -> list[Any]:
        """The messages that are written now."""
        found = []
        while True:
            data = self.link.next_message(self.now)
            if data is None:
                return found
            found.append(session_pb2.ClientMessage.FromString(data))

    def sent_frames(self) -> list[int]:
        """The sequences of the frames that are written now."""
        return [each.frame.sequence for each in self.written() if each.HasField("frame")]

    def send(self, image: Any = None, waiter: Any = None, **metadata: Any) -> Any:
        """Offers a frame."""
        frame = Frame(image or Image("gray", 2, 2, bytes(4)), **metadata)
        pending = self.machine.offer(frame, None, waiter, self.now)
        self.perform()
        return pending

    def filtered(self, sequence: int, disposition: int = 1, **fields: Any) -> None:
        """Answers a frame with a grey picture of 2 by 2."""
        frame = session_pb2.FilteredFrame(sequence=sequence, disposition=disposition, **fields)
        if not fields:
            frame.image.format, frame.image.width, frame.image.height = 4, 2, 2
            frame.image.inline = b"done"
        self.reply(frame=frame)

    def output(self, name: str, sequence: int, is_dropped: bool = False) -> None:
        """Sends the outcome of a frame in a named output."""
        if is_dropped:
            run = {"first_sequence": sequence, "last_sequence": sequence, "count": 1}
            self.reply(dropped=session_pb2.Dropped(output=name, reason=8, **run))
        else:
            image = {"format": 4, "width": 2, "height": 2, "inline": b"done"}
            self.filtered(sequence, output=name, image=image)

    def lose(self, code: str = "UNAVAILABLE", random: float = 0.0) -> Any:
        """Loses the connection; returns the seconds until the next attempt."""
        from sidelight.errors import make_error

        delay = self.link.end(make_error(code, "lost"), self.now, random)
        self.perform()
        return delay

    def perform(self) -> None:
        """Resolves those who wait."""
        for waiter, value in self.machine.take_effects():
            waiter.resolve(value)

    def outcomes(self) -> list[Any]:
        """Takes all outcomes that are known."""
        found = []
        while True:
            outcome = self.machine.take_outcome()
            if outcome is None:
                return found
            found.append(outcome)
