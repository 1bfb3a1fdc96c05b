"""Pictures in shared memory, of a session without a server."""

import pytest
from support.steps import slot_frame
from support.unconnected import Answer, FakeRing, Unconnected

from sidelight import Image
from sidelight.errors import SidelightError
from sidelight.v1 import session_pb2


def test_a_picture_is_copied_into_a_slot_and_inline_without_one():
    session, ring = Unconnected(), FakeRing(input_slots=1)
    session.open(capacity=4, ring=ring)
    session.send(Image("gray", 2, 2, b"abcd"))
    assert session.written()[0].frame.image.shared_memory.length == 4
    assert bytes(ring.memory[0][:4]) == b"abcd"
    session.send(Image("gray", 2, 2, b"ijkl"))
    assert session.written()[0].frame.image.inline == b"ijkl"


def test_a_frame_in_a_slot_is_sent_without_a_copy_and_passes_through_in_it():
    session, ring = Unconnected(), FakeRing()
    session.open(ring=ring)
    frame = session.link.lend_frame(2, 2, "gray", None, None)
    frame.image.data[:] = b"abcd"
    answer = Answer()
    session.machine.offer(frame, None, answer, 0)
    (message,) = session.written()
    assert message.frame.image.shared_memory.slot == 0
    session.reply(frame=slot_frame(1, 0, disposition=2))
    assert answer.value.image is frame.image


def test_pictures_in_output_slots_are_acknowledged_when_they_are_released():
    session, ring = Unconnected(), FakeRing(output_slots=2)
    session.open(capacity=1, ring=ring)
    outcomes = []
    for sequence in (1, 2):
        session.send()
        session.written()
        session.reply(frame=slot_frame(sequence, 1 + sequence))
        outcomes += session.outcomes()
    session.send()
    assert [each.WhichOneof("kind") for each in session.written()] == ["frame"]
    ring.give_back()
    session.filtered(3)
    session.outcomes()
    session.send()
    ack, frame = session.written()
    assert ack.ack.sequence == 2 and not ack.ack.held_slots
    assert outcomes[0].sequence == 1


def test_a_picture_of_an_unknown_format_is_an_internal_error():
    session = Unconnected()
    session.open()
    session.send()
    session.written()
    frame = session_pb2.FilteredFrame(sequence=1, disposition=1)
    frame.image.format, frame.image.width, frame.image.height = 99, 2, 2
    frame.image.inline = b"done"
    session.reply(frame=frame)
    (outcome,) = session.outcomes()
    with pytest.raises(SidelightError, match="format 99, which this version") as raised:
        outcome.image  # noqa: B018
    assert raised.value.code == "INTERNAL"


@pytest.mark.parametrize("slot, length", [(9, 4), (2, 1 << 40), (2, 0)])
def test_slots_that_the_server_may_not_name_are_refused(slot, length):
    session = Unconnected()
    session.open(ring=FakeRing())
    session.send()
    session.written()
    frame = slot_frame(1, slot)
    frame.image.shared_memory.length = length
    with pytest.raises(SidelightError, match="slot"):
        session.reply(frame=frame)
