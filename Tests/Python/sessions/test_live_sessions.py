"""The outcomes of frames when there are too many of them, and of sessions when they end."""

import time

import grpc
import pytest
from google.protobuf import duration_pb2

from sidelight_testing import images
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.contract import session as messages
from sidelight_testing.server import Server
from sidelight_testing.session import Session, pipeline

# Slow enough, by far, to be outrun by a client that only sends.
SLOW = pipeline(*[("gaussianBlur", {"radius": 4 + index}) for index in range(24)])
FRAMES = 120


@pytest.fixture(scope="module")
def picture():
    return images.noise("RGB24", 960, 540)


def check_sums(transcript, sent):
    """Exactly one outcome a frame, in order, and counters that say the same."""
    outcomes = transcript.outcomes(sent)
    assert [sequence for sequence, _ in outcomes] == sent
    stats = transcript.stats[-1]
    assert stats.final and stats.in_flight == 0
    assert stats.received == len(sent)
    assert stats.filtered == len(transcript.frames)
    by_reason = {}
    for drop in transcript.dropped:
        by_reason[drop.reason] = by_reason.get(drop.reason, 0) + drop.count
    assert {each.reason: each.count for each in stats.dropped} == by_reason
    return by_reason


def test_the_newest_frame_wins_and_every_frame_has_one_outcome(stub, picture):
    with Session(stub, pipeline=SLOW) as session:
        assert session.opened.drop_policy == messages.DROP_POLICY_NEWEST_WINS
        assert session.opened.mailbox_depth == 1
        for _ in range(session.opened.frames_in_flight):
            session.send_frame(picture)
        transcript = session.finish()
    by_reason = check_sums(transcript, session.sent)
    assert by_reason[messages.DROP_REASON_SUPERSEDED] > 0
    assert set(by_reason) <= {
        messages.DROP_REASON_SUPERSEDED,
        messages.DROP_REASON_OUTPUT_SUPERSEDED,
    }
    # The last one is the newest.
    assert transcript.frames[-1].sequence == session.sent[-1]


def test_sending_more_than_the_window_is_reported(stub, picture):
    with Session(stub, pipeline=SLOW) as session:
        for _ in range(FRAMES):
            session.send_frame(picture)
        transcript = session.finish()
    by_reason = check_sums(transcript, session.sent)
    assert by_reason[messages.DROP_REASON_NO_CREDIT] > 0


def test_the_oldest_frames_are_kept_on_request(stub, picture):
    oldest = messages.DROP_POLICY_KEEP_OLDEST
    with Session(stub, pipeline=SLOW, drop_policy=oldest, mailbox_depth=3) as session:
        assert session.opened.mailbox_depth == 3
        for _ in range(FRAMES):
            session.send_frame(picture)
        transcript = session.finish()
    by_reason = check_sums(transcript, session.sent)
    assert set(by_reason) <= {messages.DROP_REASON_QUEUE_FULL, messages.DROP_REASON_NO_CREDIT}
    assert sum(by_reason.values()) > 0
    assert [frame.sequence for frame in transcript.frames][:3] == [1, 2, 3]


def test_never_drop_delivers_every_frame(stub):
    picture = images.noise("I420", 640, 360)
    never = messages.DROP_POLICY_NEVER_DROP
    with Session(stub, pipeline=SLOW, drop_policy=never) as session:
        for _ in range(40):
            session.send_frame(picture)
        transcript = session.finish()
    assert check_sums(transcript, session.sent) == {}


def test_a_long_call_is_not_aborted(stub):
    # gRPC's own libraries probe the bandwidth with a ping per burst of data; a server that
    # counts those as an attack ends the connection after a few hundred frames.
    picture = images.noise("I420", 320, 180)
    never = messages.DROP_POLICY_NEVER_DROP
    with Session(stub, pipeline=pipeline("sepiaTone"), drop_policy=never) as session:
        for _ in range(600):
            session.send_frame(picture)
            session.receive_until("frame")
        transcript = session.finish()
    assert check_sums(transcript, session.sent) == {}


def test_the_last_of_many_selections_applies(stub):
    picture = images.noise("RGB24", 16, 16)
    with Session(stub, drop_policy=messages.DROP_POLICY_NEVER_DROP) as session:
        for request_id in range(1, 501):
            name = "colorInvert" if request_id % 2 else "grayscale"
            session.select(pipeline(name), request_id=request_id)
        session.send_frame(picture)
        transcript = session.finish()
    (applied,) = transcript.applied
    assert (applied.revision, applied.request_id, applied.first_sequence) == (501, 500, 1)
    assert not transcript.errors
    grey = images.rgb(transcript.frames[0].image)
    assert (grey[..., 0] == grey[..., 1]).all() and (grey[..., 1] == grey[..., 2]).all()


def test_sizes_and_formats_can_change_between_frames(stub):
    pictures = [
        images.noise(name, 40 + 7 * index, 30 + 5 * index)
        for index, name in enumerate(images.RAW_FORMATS * 2)
    ]
    never = messages.DROP_POLICY_NEVER_DROP
    with Session(stub, pipeline=pipeline("colorInvert"), drop_policy=never) as session:
        for picture in pictures:
            session.send_frame(picture)
        frames = session.finish().frames
    for frame, picture in zip(frames, pictures, strict=True):
        assert (frame.image.format, frame.image.width, frame.image.height) == (
            picture.format,
            picture.width,
            picture.height,
        )
        assert len(frame.image.inline) == len(picture.inline)


def test_a_pong_repeats_the_values_of_the_ping(stub):
    with Session(stub) as session:
        session.send(ping=messages.Ping(id=7, client_time_ns=-3))
        (pong,) = session.finish().pongs
    assert (pong.id, pong.client_time_ns) == (7, -3)
    assert 0 < pong.server_received_ns <= pong.server_sent_ns


def test_statistics_arrive_at_the_requested_interval(stub, picture):
    interval = duration_pb2.Duration(nanos=100_000_000)
    with Session(stub, stats_interval=interval) as session:
        session.send_frame(picture)
        session.receive_until("frame")
        told = [session.receive_until("stats") for _ in range(3)]
        assert not any(stats.final for stats in told)
        assert (told[-1].received, told[-1].passed_through, told[-1].in_flight) == (1, 1, 0)
        final = session.finish().stats[-1]
    assert final.final and final.received == 1


@pytest.mark.parametrize(
    "field, fields",
    [
        ("open.stats_interval", {"stats_interval": duration_pb2.Duration(nanos=1)}),
        ("open.stats_interval", {"stats_interval": duration_pb2.Duration(seconds=-5)}),
        ("open.mailbox_depth", {"mailbox_depth": 65}),
        ("open.label", {"label": "x" * 129}),
        ("open.drop_policy", {"drop_policy": 99}),
    ],
)
def test_an_option_out_of_its_range_is_refused_by_name(stub, field, fields):
    with Session(stub, opens=False) as session:
        session.send(open=messages.Open(**fields))
        error = session.fail()
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert error.details().startswith(field + ":")


def test_a_session_without_frames_ends_with_ok(stub):
    with Session(stub) as session:
        transcript = session.finish()
    assert [message.WhichOneof("kind") for message in transcript.all] == ["stats"]
    assert transcript.stats[0].final and transcript.stats[0].received == 0


@pytest.mark.parametrize("policy", ["NEWEST_WINS", "KEEP_OLDEST", "NEVER_DROP"])
@pytest.mark.parametrize(
    "wanted", [SLOW, pipeline()], ids=["in mid-work", "with its outcomes unread"]
)
def test_a_client_that_cancels_leaves_no_resources(stub, picture, wanted, policy):
    drop_policy = messages.DropPolicy.Value(f"DROP_POLICY_{policy}")
    for frames in range(1, 21):
        with Session(stub, pipeline=wanted, drop_policy=drop_policy) as session:
            for _ in range(frames):
                session.send_frame(picture)
            if frames % 2:
                session.receive_until("frame")
    deadline = time.monotonic() + 60
    load = None
    while load is None or load.sessions or load.pool_bytes_in_use:
        assert time.monotonic() < deadline, f"still there: {load}"
        load = stub.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=60).load


def test_sessions_on_one_connection_do_not_mix(stub):
    first, second = images.noise("RGB24", 32, 32, seed=1), images.noise("RGB24", 32, 32, seed=2)
    never = messages.DROP_POLICY_NEVER_DROP
    with (
        Session(stub, drop_policy=never) as one,
        Session(stub, drop_policy=never, pipeline=pipeline("colorInvert")) as other,
    ):
        assert one.opened.session_id != other.opened.session_id
        for _ in range(10):
            one.send_frame(first)
            other.send_frame(second)
        plain, inverted = one.finish().frames, other.finish().frames
    assert all(frame.image == first for frame in plain)
    assert all((images.rgb(f.image) == 255 - images.rgb(second)).all() for f in inverted)
    assert len(plain) == len(inverted) == 10


def test_a_shutdown_notifies_sessions_and_exits_with_status_0():
    picture = images.noise("I420", 64, 48)
    with Server() as server, grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = service.FrameFilterStub(channel)
        with Session(stub, drop_policy=messages.DROP_POLICY_NEVER_DROP) as session:
            session.send_frame(picture)
            session.receive_until("frame")
            server.process.terminate()
            state = session.receive_until("state")
            assert state.state == messages.SESSION_STATE_DRAINING
            error = session.fail()
            assert error.code() == grpc.StatusCode.UNAVAILABLE
            assert session.transcript.stats[-1].final
        assert server.process.wait(timeout=60) == 0, server.log
