"""A client's session, and the record of received messages."""

import abc
import queue
from dataclasses import dataclass, field
from typing import Self

import grpc

from .contract import pipeline as pipeline_messages
from .contract import session as messages

CALL_SECONDS = 120


def value(given: object) -> pipeline_messages.ParameterValue:
    """A parameter's value from a number, a flag, a name, or a list of numbers."""
    if isinstance(given, bool):
        return pipeline_messages.ParameterValue(flag=given)
    if isinstance(given, str):
        return pipeline_messages.ParameterValue(text=given)
    if isinstance(given, list):
        vector = pipeline_messages.Vector(values=given)
        return pipeline_messages.ParameterValue(vector=vector)
    return pipeline_messages.ParameterValue(number=given)


def pipeline(*filters: tuple[str, dict[str, object]] | str) -> pipeline_messages.Pipeline:
    """A pipeline of filters by name, or by name and values: `("sepiaTone", {"intensity": 0.8})`."""
    result = pipeline_messages.Pipeline()
    for entry in filters:
        name, given = (entry, {}) if isinstance(entry, str) else entry
        parameters = {key: value(each) for key, each in given.items()}
        result.stages.add(filter=pipeline_messages.Filter(name=name, parameters=parameters))
    return result


@dataclass
class Transcript:
    """The received messages after `opened`, by type, in order."""

    all: list = field(default_factory=list)
    frames: list = field(default_factory=list)
    dropped: list = field(default_factory=list)
    accepted: list = field(default_factory=list)
    applied: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    pongs: list = field(default_factory=list)
    states: list = field(default_factory=list)
    stats: list = field(default_factory=list)
    advice: list = field(default_factory=list)
    analyses: list = field(default_factory=list)

    def add(self, message: messages.ServerMessage) -> None:
        kind = message.WhichOneof("kind")
        plural = {
            "frame": self.frames,
            "dropped": self.dropped,
            "accepted": self.accepted,
            "applied": self.applied,
            "error": self.errors,
            "pong": self.pongs,
            "state": self.states,
            "stats": self.stats,
            "advice": self.advice,
            "analysis": self.analyses,
        }
        self.all.append(message)
        plural[kind].append(getattr(message, kind))

    def outcomes(self, sent: list[int]) -> list[tuple[int, str]]:
        """Every frame's outcome as (sequence, kind), in the order in which the server sent them.

        A run of drops stands for every frame that was sent in between.
        """
        result = []
        for message in self.all:
            kind = message.WhichOneof("kind")
            if kind == "frame":
                result.append((message.frame.sequence, "frame"))
            elif kind == "dropped":
                run = message.dropped
                meant = [s for s in sent if run.first_sequence <= s <= run.last_sequence]
                assert len(meant) == run.count, f"{run} names {len(meant)} frames"
                result += [(sequence, "dropped") for sequence in meant]
        return result


class ProcessCall(abc.ABC):
    """A `Process` call, whatever carries its messages."""

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.transcript = Transcript()

    @abc.abstractmethod
    def send_message(self, message: messages.ClientMessage) -> None:
        """Sends one message."""

    @abc.abstractmethod
    def receive_message(self) -> messages.ServerMessage:
        """Receives the next message, without recording it; fails if the call ends."""

    def open(self, **fields: object) -> None:
        """Sends the first message, and receives the answer."""
        self.send(open=messages.Open(**fields))
        first = self.receive()
        assert first.WhichOneof("kind") == "opened", first
        self.opened = first.opened

    def send(self, **kind: object) -> None:
        """Sends one message: `send(ping=Ping(id=1))`."""
        self.send_message(messages.ClientMessage(**kind))

    def send_frame(self, image, sequence: int | None = None, **fields: object) -> int:
        """Sends a frame, numbered after the last one by default."""
        if sequence is None:
            sequence = self.sent[-1] + 1 if self.sent else 1
        self.sent.append(sequence)
        self.send(frame=messages.Frame(sequence=sequence, image=image, **fields))
        return sequence

    def select(self, wanted, request_id: int = 0, **fields: object) -> None:
        """Replaces the pipeline."""
        self.send(select=messages.Select(pipeline=wanted, request_id=request_id, **fields))

    def select_text(self, text: str, request_id: int = 0, **fields: object) -> None:
        """Replaces the pipeline with a text."""
        self.send(select=messages.Select(pipeline_text=text, request_id=request_id, **fields))

    def receive(self) -> messages.ServerMessage:
        """Receives and records the next message; fails if the call ends."""
        message = self.receive_message()
        if message.WhichOneof("kind") != "opened":
            self.transcript.add(message)
        return message

    def receive_until(self, kind: str) -> object:
        """Reads until a message of a type arrives, and returns its content."""
        while True:
            message = self.receive()
            if message.WhichOneof("kind") == kind:
                return getattr(message, kind)


class Session(ProcessCall):
    """A call over gRPC. Messages are queued, so sending never waits for the server."""

    def __init__(self, stub, seconds: float = CALL_SECONDS, opens: bool = True, **open_fields):
        super().__init__()
        self._queue: queue.SimpleQueue = queue.SimpleQueue()
        self._call = stub.Process(iter(self._queue.get, None), timeout=seconds)
        if opens:
            self.open(**open_fields)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        self._call.cancel()

    def send_message(self, message: messages.ClientMessage) -> None:
        self._queue.put(message)

    def receive_message(self) -> messages.ServerMessage:
        return next(self._call)

    def half_close(self) -> None:
        """Closes the client's side for sending."""
        self._queue.put(None)

    def finish(self) -> Transcript:
        """Closes the client's side, and reads until the call ends with OK."""
        self.half_close()
        for message in self._call:
            self.transcript.add(message)
        assert self._call.code() == grpc.StatusCode.OK
        return self.transcript

    def fail(self) -> grpc.RpcError:
        """Reads to the end, and expects the server to end the call with an error."""
        try:
            while True:
                self.receive()
        except StopIteration:
            raise AssertionError("the call ended well") from None
        except grpc.RpcError as error:
            return error
