"""Steps that tests of a session without a server share."""

from sidelight._core.options import select_message
from sidelight.v1 import session_pb2


def total(counts):
    return (
        counts.filtered
        + counts.passed_through
        + counts.degraded
        + sum(counts.dropped.values())
        + counts.in_flight
    )


def slot_frame(sequence, slot, disposition=1):
    frame = session_pb2.FilteredFrame(sequence=sequence, disposition=disposition)
    frame.image.format, frame.image.width, frame.image.height = 4, 2, 2
    frame.image.shared_memory.slot, frame.image.shared_memory.length = slot, 4
    return frame


def change(session, pipeline, if_revision=None):
    message = select_message(pipeline, if_revision)
    record = session.machine.change(message, if_revision is not None)
    session.perform()
    return record


def update(session, stage="s", **values):
    message = session_pb2.Update()
    parameters = message.stages.add(stage=stage).parameters
    for name, value in values.items():
        parameters[name].number = value
    return session.machine.change(message, False)
