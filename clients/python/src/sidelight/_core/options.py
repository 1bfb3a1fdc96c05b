"""The options of a session, and the messages that select a pipeline."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from .._validation import integer
from ..pipelines import PipelineLike, source_of
from ..v1 import session_pb2
from .fallback import FallbackPolicy


#: The composed pictures that may be unacknowledged: the server makes them, so credits do not bound
#: those that wait to be taken.
COMPOSITION_WINDOW = 4


class SessionOptions(NamedTuple):
    """The checked options of a session: the message that opens it, and what concerns this client."""

    #: The message, without pipeline, token and shared memory.
    open: session_pb2.Open
    #: The first pipeline.
    select: session_pb2.Select
    resume_token: bytes
    #: The shared memory to request; `None` sends pixels inline.
    shared_memory: Optional[session_pb2.SharedMemoryRequest]
    frames_in_flight: Optional[int]
    fallback: FallbackPolicy
    reconnects: bool
    #: The seconds after a loss at which attempts stop; `None` disables the limit.
    give_up_after: Optional[float]

    @property
    def composes(self) -> bool:
        """Whether the session shows the results of others."""
        return self.open.HasField("composition")

    def open_message(
        self,
        select: session_pb2.Select,
        token: bytes,
        with_shared_memory: bool,
        composition: Optional[session_pb2.Composition] = None,
    ) -> bytes:
        """Returns the message that opens the session.

        - `composition`: The newest composition, if the session has one.
        """
        message = session_pb2.Open()
        message.CopyFrom(self.open)
        set_source(message, select)
        message.resume_token = token
        if with_shared_memory and self.shared_memory is not None:
            message.shared_memory.CopyFrom(self.shared_memory)
        if composition is not None:
            message.composition.CopyFrom(composition)
        return session_pb2.ClientMessage(open=message).SerializeToString()


def select_message(pipeline: PipelineLike, if_revision: Optional[int] = None) -> Any:
    """Returns the message that selects a pipeline."""
    message = session_pb2.Select()
    source = source_of(pipeline)
    if isinstance(source, str):
        message.pipeline_text = source
    else:
        message.pipeline.CopyFrom(source)
    if if_revision is not None:
        message.if_revision = integer("if_revision", if_revision, 0, 2**64 - 1)
    return message


def set_source(message: Any, select: session_pb2.Select) -> None:
    """Sets the pipeline of a message to a selected one."""
    if select.WhichOneof("pipeline_source") == "pipeline_text":
        message.pipeline_text = select.pipeline_text
    else:
        message.pipeline.CopyFrom(select.pipeline)
