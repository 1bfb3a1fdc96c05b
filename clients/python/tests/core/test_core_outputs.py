"""Outcomes of named outputs that wait to be taken, and the messages about outputs."""

import pytest
from support.unconnected import Answer, Unconnected

from sidelight import Dropped, NamedOutput, Output, SidelightError
from sidelight._core.machine import OUTPUT
from sidelight._core.outputs import OUTPUT_LIMIT
from sidelight.output import EncoderOptions
from sidelight.v1 import session_pb2

ENCODED = [NamedOutput("a", Output(encoder=EncoderOptions(bit_rate=100_000))), NamedOutput("b")]
RAW = [NamedOutput("a"), NamedOutput("b")]


def take_all(session):
    found = []
    while (item := session.machine.take(OUTPUT)[0]) is not None:
        found.append((item.output, item.outcome.sequence))
    session.perform()
    return found


def test_every_output_has_room_of_its_own():
    session = Unconnected(outputs=RAW)
    session.open()
    session.output("b", 1)
    for sequence in range(1, OUTPUT_LIMIT + 11):
        session.output("a", sequence)
    assert session.machine.outputs.dropped == 10
    newest = [("a", sequence) for sequence in range(11, OUTPUT_LIMIT + 11)]
    assert take_all(session) == [("b", 1), *newest]
    assert take_all(session) == []


def test_drops_are_lost_before_pictures_on_which_others_depend():
    session = Unconnected(outputs=RAW)
    session.open()
    session.output("a", 1)
    session.output("a", 2, is_dropped=True)
    for sequence in range(3, OUTPUT_LIMIT + 2):
        session.output("a", sequence)
    assert session.machine.outputs.dropped == 1
    kept = [sequence for _, sequence in take_all(session)]
    assert kept == [1, *range(3, OUTPUT_LIMIT + 2)]


def test_under_never_drop_frames_wait_for_the_outputs():
    session = Unconnected(outputs=RAW, drop_policy="never_drop")
    session.open(capacity=8)
    for sequence in range(1, OUTPUT_LIMIT):
        session.output("a", sequence)
    assert session.send(waiter=Answer()) and session.sent_frames() == [1]
    session.output("a", OUTPUT_LIMIT)
    session.send(waiter=Answer())
    assert session.sent_frames() == []
    # Frames in flight still have their outcomes.
    for sequence in range(OUTPUT_LIMIT + 1, OUTPUT_LIMIT + 9):
        session.output("a", sequence)
    for _ in range(8):
        session.machine.take(OUTPUT)
        assert session.sent_frames() == []
    session.machine.take(OUTPUT)
    assert session.sent_frames() == [2]
    assert session.machine.outputs.dropped == 0


def test_a_server_cannot_fill_the_memory():
    session = Unconnected(outputs=RAW, drop_policy="never_drop")
    session.open(capacity=8)
    for sequence in range(1, 1001):
        session.output("a", sequence)
    assert session.machine.outputs.dropped == 1000 - len(take_all(session)) > 800
    with pytest.raises(SidelightError, match="unknown output"):
        session.output("c", 1)


@pytest.mark.parametrize("policy", ["newest_wins", "keep_oldest", "never_drop"])
def test_pictures_of_encoded_outputs_are_acknowledged_when_they_are_taken(policy):
    session = Unconnected(outputs=ENCODED, drop_policy=policy)
    opening = session.open()
    # A server that never drops would wait for acknowledgements that it does not read.
    acknowledges = policy != "never_drop"
    assert (opening.output_window > 0) == acknowledges
    session.send(waiter=Answer())
    session.written()
    session.filtered(1)
    session.output("a", 1)
    session.output("a", 2)
    session.output("b", 1)
    session.output("b", 2, is_dropped=True)
    assert session.written() == []
    take_all(session)
    acknowledged = {each.ack.output: each.ack.sequence for each in session.written()}
    assert acknowledged == ({"a": 2, "b": 1} if acknowledges else {})
    session.output("a", 3)
    take_all(session)
    session.lose()
    session.open()
    assert session.written() == [], "acknowledgements end with their connection"


def test_raw_outputs_are_not_acknowledged():
    session = Unconnected(outputs=RAW)
    assert session.open().output_window == 0
    session.output("a", 1)
    take_all(session)
    assert session.written() == []


def settings(messages):
    """The changes of encoders, without their numbers."""
    for each in messages:
        each.set_encoder.ClearField("request_id")
    return [each.set_encoder for each in messages]


def test_settings_of_encoders_are_kept_by_output():
    session = Unconnected(outputs=ENCODED)
    session.open()
    machine = session.machine
    for output, bit_rate in (("a", 50_000), ("b", 60_000), ("b", 70_000)):
        machine.set_encoder(session_pb2.SetEncoder(output=output, bit_rate=bit_rate))
    machine.request_key_frame("b")
    written = session.written()
    assert written[0].request_key_frame.output == "b"
    changes = [
        session_pb2.SetEncoder(output="a", bit_rate=50_000),
        session_pb2.SetEncoder(output="b", bit_rate=70_000),
    ]
    assert settings(written[1:]) == changes
    session.lose()
    opening = session.open()
    assert [each.name for each in opening.outputs] == ["a", "b"]
    assert settings(session.written()) == changes


def test_outcomes_are_in_the_order_of_arrival():
    session = Unconnected(outputs=RAW)
    session.open()
    answer = Answer()
    session.machine.wait(OUTPUT, answer)
    session.output("b", 1)
    assert answer.values == [None]
    session.output("a", 1)
    session.output("b", 2, is_dropped=True)
    items = [session.machine.take(OUTPUT)[0] for _ in range(3)]
    assert [each.output for each in items] == ["b", "a", "b"]
    assert isinstance(items[2].outcome, Dropped)
