"""Encoded video in front of the socket, without a server."""

import pytest
from support.unconnected import Answer, Unconnected

from sidelight import (
    Color,
    Dropped,
    DropReason,
    DropStage,
    EncodedImage,
    EncoderOptions,
    EncoderTarget,
    Image,
    KeyFrameNeeded,
    KeyFrameReason,
    NamedOutput,
    Output,
)
from sidelight._core.references import LEFT_OUT_LIMIT, WAITING_LIMIT
from sidelight.errors import InvalidArgument, ResourceExhausted
from sidelight.v1 import session_pb2

KEY, DELTA = b"\0key", b"\1delta"


def vp8(data, **options):
    return EncodedImage("vp8", data, **options)


def opened(capacity=2, **options):
    session = Unconnected(fallback="drop", **options)
    session.open(capacity)
    # As with a server without acknowledgements, so tests see other messages only.
    session.machine.acknowledges = False
    return session


def requests(session):
    return [each for each in session.machine.notices.events if isinstance(each, KeyFrameNeeded)]


def reasons(outcomes):
    return [(each.sequence, each.reason, each.stage) for each in outcomes]


def test_a_key_frame_and_its_deltas_are_sent_as_they_are():
    session = opened()
    session.send(vp8(KEY))
    session.send(vp8(DELTA))
    first, second = session.written()
    assert (first.frame.image.format, first.frame.image.encoded.key_frame) == (19, True)
    assert first.frame.image.inline == KEY and second.frame.image.inline == DELTA
    assert not second.frame.image.encoded.key_frame
    assert list(second.frame.image.encoded.depends_on) == []


def test_frames_that_wait_are_not_replaced_by_deltas():
    session = opened(capacity=1)
    for data in (KEY, DELTA, DELTA, DELTA):
        session.send(vp8(data))
    assert session.sent_frames() == [1]
    for sequence in (1, 2, 3):
        session.filtered(sequence)
        session.outcomes()
        assert session.sent_frames() == [sequence + 1]
    assert requests(session) == []


def test_a_key_frame_replaces_all_that_wait():
    session = opened(capacity=1)
    session.send(vp8(KEY))
    session.written()
    for data in (DELTA, DELTA, KEY, DELTA):
        session.send(vp8(data))
    session.filtered(1)
    dropped = session.outcomes()[1:]
    assert reasons(dropped) == [
        (2, DropReason.SUPERSEDED, DropStage.CLIENT),
        (3, DropReason.SUPERSEDED, DropStage.CLIENT),
    ]
    (key,) = session.written()
    assert key.frame.sequence == 4 and key.frame.image.encoded.key_frame
    session.filtered(4)
    session.outcomes()
    (delta,) = session.written()
    assert not delta.frame.image.encoded.depends_on


def test_frames_on_which_no_other_depends_are_replaced_and_leave_no_gap():
    session = opened(capacity=1)
    session.send(vp8(KEY))
    session.written()
    session.send(vp8(DELTA, is_disposable=True))
    session.send(vp8(DELTA))
    session.filtered(1)
    outcomes = session.outcomes()
    assert reasons(outcomes[1:]) == [(2, DropReason.SUPERSEDED, DropStage.CLIENT)]
    (delta,) = session.written()
    # Sequence 2 is missing on purpose.
    assert delta.frame.sequence == 3 and list(delta.frame.image.encoded.depends_on) == [1]
    assert requests(session) == []


def test_a_disposable_frame_is_not_what_later_ones_depend_on():
    session = opened(capacity=9)
    session.send(vp8(KEY))
    session.send(vp8(DELTA, is_disposable=True))
    session.written()
    session.machine.window.capacity = 0
    session.send(vp8(DELTA, is_disposable=True))
    session.send(vp8(DELTA))
    session.machine.window.capacity = 9
    (delta,) = session.written()
    assert delta.frame.sequence == 4 and list(delta.frame.image.encoded.depends_on) == [1]


def test_disposable_frames_are_left_out_while_the_server_has_no_time_for_them():
    session = opened(capacity=60)
    session.send(vp8(KEY))
    late = {"reason": session_pb2.DROP_REASON_SUPERSEDED, "count": 1}
    for interval in (1, 2, 4, 8, LEFT_OUT_LIMIT, LEFT_OUT_LIMIT):
        session.send(vp8(DELTA, is_disposable=True))
        tried = session.sent_frames()[-1]
        session.reply(dropped={"first_sequence": tried, "last_sequence": tried, **late})
        for _ in range(interval):
            session.send(vp8(DELTA, is_disposable=True))
        assert session.sent_frames() == []
    session.filtered(1)
    left_out = [each for each in session.outcomes()[1:] if each.stage is DropStage.CLIENT]
    assert {each.reason for each in left_out} == {DropReason.SUPERSEDED}
    assert len(left_out) == 15 + 2 * LEFT_OUT_LIMIT

    # One that comes back ends it. Others are always sent.
    session.send(vp8(DELTA, is_disposable=True))
    session.filtered(*session.sent_frames())
    session.send(vp8(DELTA, is_disposable=True))
    assert len(session.sent_frames()) == 1
    session.send(vp8(DELTA))
    assert len(session.sent_frames()) == 1
    assert requests(session) == []


def test_a_disposable_frame_that_must_be_processed_is_sent_and_is_not_the_one_that_is_tried():
    session = opened(capacity=60)
    late = {"reason": session_pb2.DROP_REASON_SUPERSEDED, "count": 1}
    session.send(vp8(KEY))
    session.send(vp8(DELTA, is_disposable=True))
    assert session.sent_frames() == [1, 2]
    session.reply(dropped={"first_sequence": 2, "last_sequence": 2, **late})
    session.send(vp8(DELTA, is_disposable=True), must_process=True)
    assert session.sent_frames() == [3]
    session.filtered(3)
    session.send(vp8(DELTA, is_disposable=True))
    assert session.sent_frames() == []
    session.send(vp8(DELTA, is_disposable=True))
    assert session.sent_frames() == [5]
    session.reply(dropped={"first_sequence": 5, "last_sequence": 5, **late})
    for _ in range(2):
        session.send(vp8(DELTA, is_disposable=True))
    assert session.sent_frames() == []


def test_too_many_waiting_frames_break_the_stream_with_notice():
    session = opened(capacity=1)
    session.send(vp8(KEY))
    session.written()
    for _ in range(WAITING_LIMIT + 3):
        session.send(vp8(DELTA))
    first = 2 + WAITING_LIMIT
    assert requests(session) == [KeyFrameNeeded(first, KeyFrameReason.DROPPED)]
    # A dropped frame breaks those after it, also when there is room again.
    session.filtered(1)
    session.outcomes()
    session.written()
    session.send(vp8(DELTA))
    session.now += 1
    session.send(vp8(DELTA))
    assert [each.sequence for each in requests(session)] == [first, first + 4]
    session.send(vp8(KEY))
    session.filtered(2)
    dropped = [each for each in session.outcomes() if isinstance(each, Dropped)]
    waited = [each for each in dropped if each.reason is DropReason.SUPERSEDED]
    broken = [each for each in dropped if each.reason is DropReason.NOT_DECODABLE]
    assert [each.sequence for each in waited] == list(range(3, first))
    assert [each.sequence for each in broken] == list(range(first, first + 5))
    assert {each.stage for each in dropped} == {DropStage.CLIENT}
    assert session.sent_frames() == [first + 5]
    counts = session.machine.delivery.counts()
    assert counts.received == first + 5 and counts.in_flight == 1


def test_a_disposable_frame_without_room_breaks_nothing():
    session = opened(capacity=1)
    session.send(vp8(KEY))
    session.written()
    for _ in range(WAITING_LIMIT):
        session.send(vp8(DELTA))
    session.send(vp8(DELTA, is_disposable=True))
    assert requests(session) == []
    session.filtered(1)
    session.outcomes()
    assert session.sent_frames() == [2]
    session.send(vp8(DELTA))
    assert requests(session) == []


def test_a_stream_that_begins_with_a_delta_asks_for_a_key_frame():
    session = opened()
    session.send(vp8(DELTA))
    assert session.sent_frames() == []
    (outcome,) = session.outcomes()
    assert outcome.reason is DropReason.NOT_DECODABLE and outcome.stage is DropStage.CLIENT
    assert requests(session) == [KeyFrameNeeded(1, KeyFrameReason.START)]
    session.send(vp8(KEY))
    assert session.sent_frames() == [2]


def test_a_connection_that_is_opened_again_needs_a_key_frame_at_once():
    session = opened(capacity=1)
    session.send(vp8(KEY))
    session.written()
    session.send(vp8(DELTA))
    session.lose()
    session.send(vp8(DELTA))
    assert [each.reason for each in session.outcomes()] == 3 * [DropReason.DISCONNECTED]
    session.open(capacity=1)
    assert requests(session) == [KeyFrameNeeded(4, KeyFrameReason.START)]
    session.send(vp8(DELTA))
    session.send(vp8(KEY))
    assert session.sent_frames() == [5]


def test_a_raw_session_is_not_asked_for_key_frames():
    session = opened()
    session.send(vp8(KEY))
    session.send()
    session.lose()
    session.open()
    assert requests(session) == []


def test_a_picture_of_a_stream_never_passes_without_connection():
    for fallback in ("pass_through", "blur"):
        session = Unconnected(fallback=fallback)
        session.open()
        session.lose()
        session.send(vp8(KEY))
        assert session.outcomes()[0].reason is DropReason.DISCONNECTED


def test_raw_and_encoded_frames_are_mixed():
    session = opened(capacity=1)
    session.send(vp8(KEY))
    session.written()
    session.send()
    session.send()
    session.send(vp8(DELTA))
    session.filtered(1)
    assert [each.sequence for each in session.outcomes()] == [1, 2, 3]
    (delta,) = session.written()
    assert delta.frame.sequence == 4 and list(delta.frame.image.encoded.depends_on) == [1]
    session.send()
    session.filtered(4)
    session.outcomes()
    (raw,) = session.written()
    assert raw.frame.sequence == 5 and not raw.frame.image.HasField("encoded")


def test_a_frame_that_cannot_be_sent_breaks_the_stream_with_notice():
    session = opened()
    session.send(vp8(KEY))
    lost = vp8(DELTA)
    session.send(lost)
    session.send(vp8(DELTA))
    lost.release()
    assert session.sent_frames() == [1]
    session.filtered(1)
    outcomes = session.outcomes()[1:]
    assert [each.reason for each in outcomes] == [
        DropReason.INVALID_FRAME,
        DropReason.NOT_DECODABLE,
    ]
    assert requests(session) == [KeyFrameNeeded(3, KeyFrameReason.DROPPED)]
    assert session.machine.window.outstanding == 0


def test_a_malformed_frame_breaks_the_stream_with_notice():
    session = opened(capacity=1)
    session.send(vp8(KEY))
    session.written()
    session.send(vp8(DELTA))
    with pytest.raises(InvalidArgument) as raised:
        vp8(b"")
    session.machine.drop_malformed(raised.value, None, session.now)
    session.send(vp8(DELTA))
    assert requests(session) == [KeyFrameNeeded(3, KeyFrameReason.DAMAGE)]
    # The frame before it is intact.
    session.filtered(1)
    session.outcomes()
    assert session.sent_frames() == [2]
    session.send(vp8(KEY))
    session.filtered(2)
    _, malformed, broken = session.outcomes()
    assert malformed.reason is DropReason.INVALID_FRAME and malformed.error is raised.value
    assert malformed.stage is DropStage.CLIENT and broken.reason is DropReason.NOT_DECODABLE
    assert session.sent_frames() == [5]
    assert session.machine.delivery.counts().received == 5


def test_the_colours_of_a_stream_are_sent_and_kept():
    session = opened()
    color = Color(range="full", matrix="bt709")
    image = vp8(KEY, color=color)
    session.send(image.copy())
    (message,) = session.written()
    assert image.copy().color == color
    sent = message.frame.image.color
    assert (sent.range, sent.matrix) == (2, 2)
    frame = session_pb2.FilteredFrame(sequence=1, disposition=1)
    frame.image.format, frame.image.width, frame.image.height, frame.image.inline = 19, 64, 48, KEY
    frame.image.color.CopyFrom(sent)
    session.reply(frame=frame)
    assert session.outcomes()[0].image.color == color


def test_stated_dependencies_are_sent():
    session = opened()
    session.send(vp8(KEY))
    session.send(vp8(DELTA, depends_on=[1]))
    assert [list(each.frame.image.encoded.depends_on) for each in session.written()] == [[], [1]]


def test_the_servers_request_is_an_event():
    session = opened()
    needed = session_pb2.KeyFrameNeeded(sequence=7, reason=session_pb2.KEY_FRAME_REASON_DAMAGE)
    session.reply(key_frame_needed=needed)
    session.reply(key_frame_needed=session_pb2.KeyFrameNeeded(sequence=8, reason=77))
    assert requests(session) == [
        KeyFrameNeeded(7, KeyFrameReason.DAMAGE),
        KeyFrameNeeded(8, KeyFrameReason.UNKNOWN),
    ]


def encoder_changes(session):
    """The changes of the encoder that are written now, without their numbers, and the numbers."""
    changes = [each.set_encoder for each in session.written() if each.HasField("set_encoder")]
    numbers = [each.request_id for each in changes]
    for each in changes:
        each.ClearField("request_id")
    return changes, numbers


def set_encoder(session, **change):
    session.machine.set_encoder(session_pb2.SetEncoder(**change))


def test_changes_of_the_encoder_are_merged_and_sent_again():
    session = opened()
    for change in ({"bit_rate": 50_000}, {"frame_rate": 15}, {"bit_rate": 60_000}):
        set_encoder(session, **change)
    changes, (number,) = encoder_changes(session)
    assert changes == [session_pb2.SetEncoder(bit_rate=60_000, frame_rate=15)]
    session.reply(accepted=session_pb2.Accepted(request_id=number, revision=1))
    assert not session.machine.notices.events
    # Without an answer.
    set_encoder(session, bit_rate=70_000)
    session.written()
    session.lose()
    for width in (640, 320):
        set_encoder(session, width=width)
    session.open()
    changes, _ = encoder_changes(session)
    assert changes == [
        session_pb2.SetEncoder(bit_rate=60_000, frame_rate=15),
        session_pb2.SetEncoder(bit_rate=70_000),
        session_pb2.SetEncoder(width=320),
    ]


def test_only_what_changes_is_sent():
    session = opened()
    set_encoder(session, bit_rate=50_000, width=640, height=360)
    session.written()
    set_encoder(session, bit_rate=60_000)
    assert encoder_changes(session)[0] == [session_pb2.SetEncoder(bit_rate=60_000)]
    # The server would take the same size for another request.
    set_encoder(session, width=640, height=360)
    assert encoder_changes(session)[0] == []
    set_encoder(session, height=480)
    assert encoder_changes(session)[0] == [session_pb2.SetEncoder(width=640, height=480)]


def test_a_refused_change_of_the_encoder_is_not_repeated():
    session = opened()
    set_encoder(session, bit_rate=50_000)
    _, (accepted,) = encoder_changes(session)
    session.reply(accepted=session_pb2.Accepted(request_id=accepted, revision=1))
    set_encoder(session, width=16_000)
    _, (refused,) = encoder_changes(session)
    session.reply(error={"request_id": refused, "status": {"code": 3, "message": "too wide"}})
    (event,) = session.machine.notices.events
    assert event.request_id == 0 and event.error.message == "too wide"
    set_encoder(session, frame_rate=15)
    assert encoder_changes(session)[0] == [session_pb2.SetEncoder(frame_rate=15)]
    session.lose()
    session.open()
    assert encoder_changes(session)[0] == [
        session_pb2.SetEncoder(bit_rate=50_000),
        session_pb2.SetEncoder(frame_rate=15),
    ]


def test_a_change_of_the_encoder_that_waited_is_not_sent_after_a_newer_one():
    session = opened(capacity=1, drop_policy="never_drop")
    session.send(vp8(KEY))
    session.written()
    session.send(vp8(DELTA))
    set_encoder(session, bit_rate=50_000)
    session.lose()
    set_encoder(session, bit_rate=60_000)
    session.open()
    assert encoder_changes(session)[0] == [session_pb2.SetEncoder(bit_rate=60_000)]


def test_changes_of_the_encoder_that_wait_are_bounded():
    session = opened(capacity=1)
    with pytest.raises(ResourceExhausted):
        for _ in range(100):
            session.machine.set_encoder(session_pb2.SetEncoder(bit_rate=50_000))
            session.send()


def test_a_request_for_a_key_frame_overtakes_frames_and_is_sent_once():
    session = opened(capacity=1)
    session.send(vp8(KEY))
    session.written()
    session.send(vp8(DELTA))
    session.machine.request_key_frame()
    session.machine.request_key_frame()
    assert [each.WhichOneof("kind") for each in session.written()] == ["request_key_frame"]


def encoded_result(session, sequence, data=DELTA):
    frame = session_pb2.FilteredFrame(sequence=sequence, disposition=1)
    frame.image.format, frame.image.width, frame.image.height, frame.image.inline = 19, 64, 48, data
    session.reply(frame=frame)


def kinds(session):
    return [each.WhichOneof("kind") for each in session.written()]


def test_a_result_that_is_not_wanted_any_more_breaks_the_stream_with_a_request():
    session = opened(capacity=3)
    answers = [Answer() for _ in range(3)]
    pending = [session.send(vp8(DELTA if n else KEY), each) for n, each in enumerate(answers)]
    session.written()
    assert session.machine.abandon(pending[0]) is False
    encoded_result(session, 1)
    assert kinds(session) == ["request_key_frame"]
    # A picture that others do not depend on.
    session.machine.abandon(pending[1])
    session.filtered(2)
    assert kinds(session) == []
    # One that comes just before it is given up.
    encoded_result(session, 3)
    assert session.machine.abandon(pending[2]) is True
    session.machine.discard(answers[2].value)
    assert kinds(session) == ["request_key_frame"]
    assert not answers[0].values and not answers[1].values


def test_encoded_results_are_acknowledged():
    session = Unconnected(output=Output(encoder=EncoderOptions(bit_rate=100_000)))
    opening = session.link
    opening.start(session.now, False)
    (message,) = session.written()
    assert message.open.output_window > 0 and message.open.output.encoder.bit_rate == 100_000
    assert message.open.frames_in_flight == 16
    session.reply(opened=session_pb2.Opened(frames_in_flight=2, output_window=64))
    session.send()
    session.send()
    session.written()
    session.filtered(1)
    session.filtered(2)
    assert session.written() == []
    session.outcomes()
    (acknowledgement,) = session.written()
    assert acknowledgement.ack.sequence == 2


def targets(session):
    return [each for each in session.machine.notices.events if isinstance(each, EncoderTarget)]


def test_the_encoder_follows_the_connection():
    session = opened(capacity=4)
    session.machine.adapt_encoder(EncoderTarget(1_000_000, 640, 360, 30), session.now)
    assert targets(session) == [EncoderTarget(1_000_000, 640, 360, 30)]
    sequence = 0
    for frame in range(90):
        session.now += 1 / 30
        if not session.machine.may_encode(session.now):
            continue
        sequence += 1
        session.send(vp8(DELTA if sequence > 1 else KEY + bytes(4000), is_disposable=False))
        session.written()
        # A link that holds back all frames after the first second.
        if frame < 30:
            session.filtered(sequence)
            session.outcomes()
    assert sequence < 60 and not session.machine.may_encode(session.now)
    session.lose()
    assert not session.machine.may_encode(session.now)
    session.open()
    assert session.machine.may_encode(session.now)


def test_values_for_the_encoder_are_reported_when_they_change():
    session = opened(capacity=9)
    machine = session.machine
    machine.adapt_encoder(EncoderTarget(2_000_000, 640, 360, 30), session.now)
    machine.adapt_encoder(EncoderTarget(500_000, 640, 360, 15), session.now)
    assert targets(session)[-1] == EncoderTarget(500_000, 640, 360, 15)
    count = len(targets(session))
    machine.announce_target()
    assert len(targets(session)) == count


@pytest.mark.parametrize(
    "options", [{}, {"output": Output(width=320)}, {"output": Output(format="vp8")}]
)
def test_results_that_may_be_encoded_are_acknowledged(options):
    assert Unconnected(**options).open().output_window > 0


@pytest.mark.parametrize(
    "options",
    [
        {"output": Output(format="i420")},
        {"output": Output("vp8"), "drop_policy": "never_drop"},
        {"drop_policy": "never_drop"},
        {"analysis_only": True},
        {"outputs": [NamedOutput("small")]},
    ],
)
def test_other_results_are_not_acknowledged(options):
    session = Unconnected(**options)
    assert session.open().output_window == 0


def acknowledgements(session, count, image=None):
    """The acknowledgements of some frames that are sent and come back one after the other."""
    found = []
    for index in range(count):
        pending = session.send(image() if image else None)
        session.written()
        session.filtered(pending.sequence)
        session.outcomes()
        found += [each.ack.sequence for each in session.written() if each.HasField("ack")]
    return found


def test_raw_results_are_acknowledged_together():
    session = Unconnected()
    session.link.start(session.now, False)
    session.written()
    session.reply(opened=session_pb2.Opened(frames_in_flight=2, output_window=64))
    assert acknowledgements(session, 40) == [16, 32]
    assert acknowledgements(session, 2, lambda: vp8(KEY)) == [41, 42]


def test_a_result_is_an_encoded_picture():
    session = opened()
    session.send(vp8(KEY))
    session.written()
    frame = session_pb2.FilteredFrame(sequence=1, disposition=1)
    image = frame.image
    image.format, image.width, image.height, image.inline = 19, 64, 48, DELTA
    image.encoded.temporal_layer = 2
    session.reply(frame=frame)
    (outcome,) = session.outcomes()
    picture = outcome.image
    assert isinstance(picture, EncodedImage) and picture.format.value == "vp8"
    assert (picture.width, picture.height, picture.temporal_layer) == (64, 48, 2)
    assert not picture.is_key_frame and picture.bytes() == DELTA
    copy = picture.copy()
    outcome.release()
    assert copy.bytes() == DELTA and copy.temporal_layer == 2


def test_invalid_settings_name_the_field():
    for options, field in (
        ({"bit_rate": 19_999}, "output.encoder.bit_rate"),
        ({"frame_rate": 0.5}, "output.encoder.frame_rate"),
        ({"key_frame_interval": 0}, "output.encoder.key_frame_interval"),
        ({"temporal_layers": 4}, "output.encoder.temporal_layers"),
        ({"effort": "most"}, "output.encoder.effort"),
    ):
        with pytest.raises(InvalidArgument) as raised:
            Unconnected(output=Output(encoder=EncoderOptions(**options)))
        assert raised.value.field == field
    with pytest.raises(InvalidArgument) as raised:
        Unconnected(output=Output(encoder=8000))
    assert raised.value.field == "output.encoder"


def test_pictures_of_streams_have_no_planes():
    image = vp8(KEY)
    for use in (lambda: image.layout, lambda: image.plane(0)):
        with pytest.raises(ValueError, match="vp8 picture has no planes"):
            use()
    with pytest.raises(InvalidArgument, match="use EncodedImage"):
        Image("vp8", 0, 0, KEY)
    with pytest.raises(InvalidArgument, match="raw format"):
        Image.allocate("h264", 4, 4)
