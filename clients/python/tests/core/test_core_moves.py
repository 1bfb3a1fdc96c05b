"""Moves of a session without a server: two connections, of which a test plays both servers."""

import pytest
from support.steps import change, update
from support.unconnected import Unconnected

from sidelight import Dropped, DropReason, EncodedImage, Filtered, KeyFrameNeeded, NamedOutput, Output
from sidelight._core.link import Link
from sidelight._core.machine import OUTPUT
from sidelight.errors import DeadlineExceeded, Unavailable
from sidelight.events import Reconnected, SessionState
from sidelight.v1 import session_pb2

MOVE = session_pb2.State(
    state=session_pb2.SESSION_STATE_MOVE,
    resume_token=b"newest",
    move=session_pb2.Move(addresses=["10.0.0.2:50051"]),
)
OVERRIDDEN = session_pb2.State(
    state=session_pb2.SESSION_STATE_OVERRIDDEN, resume_token=b"overridden", revision=2
)
RUNNING = session_pb2.State(
    state=session_pb2.SESSION_STATE_RUNNING, resume_token=b"lifted", revision=3
)
KEY, DELTA = b"\0key", b"\1delta"


class Moving:
    """A session that its server has asked to move, and its two connections."""

    def __init__(self, pipeline=None, **options):
        self.session = Unconnected(pipeline, **options)
        self.session.open(capacity=8)
        self.old = self.session.link
        self.machine = self.session.machine

    def begin(self, time_left=None):
        state = session_pb2.State()
        state.CopyFrom(MOVE)
        if time_left is not None:
            state.move.time_left.FromNanoseconds(int(time_left * 1e9))
        self.session.reply(state=state)
        assert self.machine.move_addresses == ["10.0.0.2:50051"]
        assert self.machine.is_move_requested
        self.start(b"newest")

    def start(self, token):
        self.new = Link(self.machine, self.old)
        self.new.start(self.session.now, False)
        (opening,) = self.written(self.new)
        assert opening.open.resume_token == token and opening.open.accepts_move

    def opened(self, revision=1):
        opened = session_pb2.Opened(
            session_id="new", frames_in_flight=8, revision=revision, resume_token=b"new token",
            limits=session_pb2.Limits(max_outputs=4),
        )
        self.reply(self.new, opened=opened)

    def reply(self, link, **kind):
        link.receive(session_pb2.ServerMessage(**kind).SerializeToString(), self.session.now)
        self.session.perform()

    def filtered(self, link, sequence):
        frame = session_pb2.FilteredFrame(sequence=sequence, disposition=1)
        frame.image.format, frame.image.width, frame.image.height = 4, 2, 2
        frame.image.inline = b"done"
        self.reply(link, frame=frame)

    def written(self, link):
        session, own = self.session, self.session.link
        session.link = link
        try:
            return session.written()
        finally:
            session.link = own

    def frames(self, link):
        return [each.frame.sequence for each in self.written(link) if each.HasField("frame")]

    def outcomes(self):
        return [(type(each), each.sequence) for each in self.session.outcomes()]


def test_frames_in_flight_return_on_the_old_connection_and_later_ones_on_the_new():
    moving = Moving()
    moving.session.send()
    assert moving.frames(moving.old) == [1]
    moving.begin()
    moving.session.send()
    assert moving.frames(moving.old) == [2], "the new connection is not open"
    moving.opened()
    assert moving.old.is_retired and moving.old.is_over and moving.new.is_current
    moving.session.send()
    assert moving.frames(moving.old) == [] and moving.frames(moving.new) == [3]
    moving.filtered(moving.new, 3)
    assert moving.outcomes() == [], "the first frame is not back"
    moving.filtered(moving.old, 1)
    moving.filtered(moving.old, 2)
    assert moving.outcomes() == [(Filtered, 1), (Filtered, 2), (Filtered, 3)]
    moving.machine.end_link(moving.old)
    assert moving.machine.retired == [] and not moving.session.machine.is_over
    assert any(isinstance(each, Reconnected) for each in moving.machine.notices.events)
    assert moving.machine.changes.token == b"new token" and moving.machine.session_id == "new"


def test_an_old_server_that_dies_loses_only_its_own_frames():
    moving = Moving(fallback="drop")
    moving.session.send()
    moving.frames(moving.old)
    moving.begin()
    moving.opened()
    moving.session.send()
    assert moving.frames(moving.new) == [2]
    moving.machine.end_link(moving.old)
    moving.session.perform()
    (dropped,) = moving.session.outcomes()
    assert isinstance(dropped, Dropped) and dropped.reason is DropReason.DISCONNECTED
    moving.filtered(moving.new, 2)
    assert moving.outcomes() == [(Filtered, 2)]


def test_a_loss_after_a_move_does_not_lose_the_frames_of_the_old_connection():
    moving = Moving(fallback="drop")
    moving.session.send()
    moving.frames(moving.old)
    moving.begin()
    moving.opened()
    moving.session.send()
    moving.frames(moving.new)
    moving.new.end(Unavailable("lost"), moving.session.now, 0.0)
    moving.filtered(moving.old, 1)
    assert moving.outcomes() == [(Filtered, 1), (Dropped, 2)]


def test_the_open_connection_of_a_move_takes_the_place_of_a_lost_one():
    moving = Moving(fallback="drop")
    moving.session.send(EncodedImage("vp8", KEY))
    record = change(moving.session, "colorInvert")
    moving.written(moving.old)
    moving.begin()
    moving.opened()
    assert moving.old.is_current, "no key frame follows"
    assert moving.old.end(Unavailable("lost"), moving.session.now, 0.0) is None
    assert moving.new.is_current and not moving.machine.is_over
    (select,) = moving.written(moving.new)
    assert select.select.request_id == record.request_id


@pytest.mark.parametrize("is_applied", [False, True])
def test_a_change_that_the_token_does_not_know_is_repeated(is_applied):
    moving = Moving()
    moving.begin()
    record = change(moving.session, "colorInvert")
    (select,) = moving.written(moving.old)
    assert select.select.request_id == record.request_id
    if is_applied:
        applied = session_pb2.Applied(revision=2, request_id=record.request_id)
        moving.reply(moving.old, applied=applied)
    moving.opened()
    assert moving.new.is_current
    (select,) = moving.written(moving.new)
    assert select.select.pipeline_text == "colorInvert"
    assert select.select.request_id == (0 if is_applied else record.request_id)


@pytest.mark.parametrize("is_draining", [False, True])
def test_continuous_changes_do_not_delay_a_move(is_draining):
    moving = Moving("s: gaussianBlur")
    moving.begin()
    if is_draining:
        state = session_pb2.State(state=session_pb2.SESSION_STATE_DRAINING)
        moving.session.reply(state=state)
    records = []
    for radius in range(4):
        records.append(update(moving.session, radius=radius))
        moving.written(moving.old)
    moving.opened()
    assert moving.new.is_current
    changes = [each.update for each in moving.written(moving.new)]
    sent = records[-1:] if is_draining else records  # Those that wait are merged.
    assert [each.request_id for each in changes] == [each.request_id for each in sent]
    for each in sent:
        accepted = session_pb2.Accepted(revision=2, request_id=each.request_id)
        moving.reply(moving.new, accepted=accepted)
    assert [each.revision for each in records] == [2] * 4


def test_changes_keep_their_order_over_a_move_of_a_session_that_drains():
    moving = Moving()
    for _ in range(9):
        moving.session.send()
        moving.written(moving.old)
    pauses = moving.machine.request_pause
    change(moving.session, "colorInvert")
    pauses(None)
    moving.begin()
    assert moving.written(moving.old) == [], "they wait behind a frame without a credit"
    moving.session.reply(state=session_pb2.State(state=session_pb2.SESSION_STATE_DRAINING))
    change(moving.session, "faceBlur")
    pauses(False)
    moving.opened()
    assert moving.new.is_current
    moving.filtered(moving.old, 1)
    assert moving.outcomes() == [(Filtered, 1)]
    written = moving.written(moving.new)
    kinds = [each.WhichOneof("kind") for each in written]
    assert kinds == ["frame", "select", "resume", "select", "pause"]
    assert written[3].select.pipeline_text == "faceBlur"


def test_a_change_that_requires_a_revision_is_answered_before_a_move():
    moving = Moving()
    moving.begin()
    record = change(moving.session, "colorInvert", if_revision=1)
    moving.written(moving.old)
    moving.opened()
    assert moving.old.is_current, "the change has no answer"
    moving.reply(
        moving.old, accepted=session_pb2.Accepted(revision=2, request_id=record.request_id)
    )
    assert moving.new.is_current and record.revision == 2


def test_encoded_video_moves_at_a_key_frame_which_is_asked_for():
    moving = Moving()
    key, delta = EncodedImage("vp8", KEY), EncodedImage("vp8", DELTA)
    for image in (key, delta):
        moving.session.send(image)
    assert moving.frames(moving.old) == [1, 2]
    moving.begin()
    moving.opened()
    asked = [each for each in moving.machine.notices.events if isinstance(each, KeyFrameNeeded)]
    assert [each.sequence for each in asked] == [3]
    moving.session.send(delta)
    assert moving.frames(moving.old) == [3] and moving.old.is_current
    moving.session.send(key)
    assert moving.new.is_current and moving.frames(moving.old) == []
    moving.session.send(delta)
    assert moving.frames(moving.new) == [4, 5]


def test_a_connection_that_is_not_wanted_any_more_ends():
    moving = Moving()
    moving.begin()
    moving.old.end(Unavailable("lost"), moving.session.now, 0.0)
    with pytest.raises(Unavailable):
        moving.opened()


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("is_lifted", [False, True])
def test_an_override_that_begins_or_ends_during_a_move_goes_along(is_open, is_lifted):
    moving = Moving()
    if is_lifted:
        moving.session.reply(state=OVERRIDDEN)
    # Unanswered: the session cannot move before its answer.
    record = change(moving.session, "colorInvert", if_revision=1)
    moving.written(moving.old)
    moving.begin()
    if is_open:
        moving.opened()
    moving.session.reply(state=RUNNING if is_lifted else OVERRIDDEN)
    stale = moving.new
    assert stale.is_over and moving.machine.next is None
    if not is_open:
        with pytest.raises(Unavailable):
            moving.opened()
    assert isinstance(stale.tick(moving.session.now), Unavailable)
    moving.machine.end_link(stale)
    moving.reply(
        moving.old, accepted=session_pb2.Accepted(revision=4, request_id=record.request_id)
    )
    assert moving.old.is_current and moving.machine.move_addresses is not None
    moving.start(b"lifted" if is_lifted else b"overridden")
    moving.opened()
    assert moving.new.is_current


def test_an_override_at_the_new_server_counts_from_the_move_on():
    moving = Moving(fallback="pass_through")
    record = change(moving.session, "colorInvert", if_revision=1)
    moving.written(moving.old)
    moving.begin()
    moving.opened()
    moving.reply(moving.new, state=OVERRIDDEN)
    machine = moving.machine
    assert machine.state is SessionState.RUNNING and not machine.fallback.is_overridden
    assert machine.changes.token == b"newest" and moving.old.is_current
    moving.reply(moving.old, applied=session_pb2.Applied(revision=2, request_id=record.request_id))
    assert moving.new.is_current and machine.changes.token == b"overridden"
    assert machine.state is SessionState.OVERRIDDEN and machine.revision == 2
    moving.reply(moving.new, applied=session_pb2.Applied(revision=2, first_sequence=1))
    assert machine.fallback.is_overridden and machine.protects


@pytest.mark.parametrize("name", ["DRAINING", "MOVE"])
def test_a_new_server_that_leaves_is_left_before_the_move(name):
    moving = Moving()
    change(moving.session, "colorInvert", if_revision=1)
    moving.written(moving.old)
    moving.begin()
    moving.opened()
    state = session_pb2.State(
        state=session_pb2.SessionState.Value(f"SESSION_STATE_{name}"), resume_token=b"other",
        move=session_pb2.Move(addresses=["10.0.0.3:50051"]),
    )
    with pytest.raises(Unavailable):
        moving.reply(moving.new, state=state)
    assert moving.machine.next is None and moving.machine.changes.token == b"newest"
    assert moving.machine.move_addresses == ["10.0.0.2:50051"]
    moving.machine.end_link(moving.new)
    moving.session.send()
    assert moving.frames(moving.old) == [1], "the old server goes on"


@pytest.mark.parametrize("time_left, limit", [(None, 5), (120, 5), (8, 2), (0.4, 0.3)])
def test_an_attempt_leaves_time_for_others(time_left, limit):
    moving = Moving()
    moving.begin(time_left)
    started = moving.session.now
    assert moving.new.tick(started + limit - 0.01) is None
    assert isinstance(moving.new.tick(started + limit + 0.01), DeadlineExceeded)


def test_a_slow_frame_on_the_old_connection_is_not_lost():
    moving = Moving(drop_policy="never_drop")
    moving.session.send()
    moving.frames(moving.old)
    moving.begin()
    moving.opened()
    assert moving.old.is_retired
    left = moving.session.now + 60  # The server had been silent before, too.
    assert moving.old.tick(left) is None
    assert moving.old.tick(left + 9.9) is None
    assert isinstance(moving.old.tick(left + 10.1), Unavailable)


@pytest.mark.parametrize("ends", [(0, 1), (1, 0)])
def test_outcomes_in_outputs_keep_their_order_over_two_moves(ends):
    moving = Moving(outputs=[NamedOutput("small", Output(width=2, height=2))])
    links = [moving.old]

    def output(sequence):
        frame = session_pb2.FilteredFrame(sequence=sequence, disposition=1, output="small")
        frame.image.format, frame.image.width, frame.image.height = 4, 2, 2
        frame.image.inline = b"done"
        moving.reply(links[sequence - 1], frame=frame)

    for token in (b"newest", b"newest"):
        moving.session.send()
        moving.written(links[-1])
        moving.reply(links[-1], state=MOVE)
        moving.start(token)
        moving.opened()
        links.append(moving.new)
        assert moving.new.is_current
    moving.session.send()
    moving.written(moving.new)
    for sequence in (3, 2, 1):
        output(sequence)
    for index in ends:
        moving.machine.end_link(links[index])
    taken = []
    while moving.machine.outputs.is_ready:
        taken.append(moving.machine.take(OUTPUT)[0].outcome.sequence)
    assert taken == [1, 2, 3]


def test_a_session_that_does_not_reconnect_ignores_a_request():
    session = Unconnected(reconnect=False)
    assert not session.open().accepts_move
    session.reply(state=MOVE)
    assert session.machine.move_addresses is None and not session.machine.is_move_requested
