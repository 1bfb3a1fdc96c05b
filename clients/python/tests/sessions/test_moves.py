"""Sessions that the server moves elsewhere, without losing a frame."""

import os
import signal
import socket
import threading
import time
from pathlib import Path

import pytest
from support.pictures import random_image
from support.running_server import RunningServer

from sidelight import Filtered, InvalidArgument, Output, PermissionDenied, Unavailable
from sidelight.events import Reconnected, SessionState, StateChanged

MOVES = 30
LIMIT = 60


class Moves:
    """The moves of a session."""

    def __init__(self, session):
        self._changed = threading.Condition()
        self.events = []
        session.on_event(self._add)

    def _add(self, event):
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def count(self):
        return sum(isinstance(each, Reconnected) for each in self.events)

    def wait_for(self, count):
        with self._changed:
            assert self._changed.wait_for(lambda: self.count() >= count, LIMIT), self.events

    def wait_for_state(self, state):
        def is_reached():
            return any(isinstance(each, StateChanged) and each.state is state for each in self.events)

        with self._changed:
            assert self._changed.wait_for(is_reached, LIMIT), self.events


def test_thirty_moves_lose_no_frame(face, servers):
    image = random_image("gray", 64, 48)
    inverted = bytes(255 - each for each in image.data)
    addresses = [each.tcp for each in servers]
    with face.connect(addresses[0]) as first, face.connect(addresses[1]) as second:
        operators = first, second
        with first.session("colorInvert") as session:
            moves, done = Moves(session), threading.Event()

            def move():
                try:
                    for number in range(MOVES):
                        target = (number + 1) % 2
                        operator = operators[1 - target].sessions
                        assert operator.move(session.id, addresses[target])
                        moves.wait_for(number + 1)
                finally:
                    done.set()

            thread = threading.Thread(target=move)
            thread.start()
            sequences = []
            while not done.is_set():
                outcome = session.filter(image, timeout=LIMIT)
                assert isinstance(outcome, Filtered), outcome
                assert bytes(outcome.image.data) == inverted
                sequences.append(outcome.sequence)
            thread.join(LIMIT)
            reconnected = [each for each in moves.events if isinstance(each, Reconnected)]
            assert len(reconnected) == MOVES and all(each.resumed for each in reconnected)
            assert sequences == list(range(1, len(sequences) + 1))
            assert session.counts.filtered == session.counts.received == len(sequences)
            assert not session.counts.dropped


@pytest.mark.parametrize("listens", [False, True])
def test_a_named_server_that_does_not_answer_leaves_time_for_another(face, servers, listens):
    image = random_image("gray", 64, 48)
    silent = socket.create_server(("127.0.0.1", 0))
    with silent, face.connect(servers[0].tcp) as server, server.session("colorInvert") as session:
        moves, before = Moves(session), session.id
        target = f"127.0.0.1:{silent.getsockname()[1]}"
        if not listens:
            silent.close()
        assert server.sessions.move(before, target)
        while not moves.count():
            assert isinstance(session.filter(image, timeout=LIMIT), Filtered)
        assert session.id != before
        assert not session.counts.dropped


def test_a_session_moves_when_the_other_server_has_its_asset(face, servers):
    image = random_image("gray", 64, 48)
    table = ("LUT_3D_SIZE 2\n" + "0 0 0\n" * 8).encode()
    with face.connect(servers[0].tcp) as first, face.connect(servers[1].tcp) as second:
        first.assets.put("black.cube", table)
        with first.session('colorCube(asset: "black.cube")') as session:
            moves, before = Moves(session), session.id
            assert first.sessions.move(before, servers[1].tcp)
            for number in range(10):
                # Servers do not share uploads: the session stays until this one.
                if number == 5:
                    assert session.id == before
                    second.assets.put("black.cube", table)
                outcome = session.filter(image, timeout=LIMIT)
                assert isinstance(outcome, Filtered) and not any(outcome.image.data)
            moves.wait_for(1)
            assert not any(session.filter(image, timeout=LIMIT).image.data)
            assert not session.counts.dropped
        second.assets.delete("black.cube")


def test_outcomes_keep_their_order_over_a_move(face, servers):
    images = [random_image("gray", 640, 480) for _ in range(200)]
    addresses = [each.tcp for each in servers]
    with face.connect(addresses[0]) as first:
        with first.session("gaussianBlur(radius: 9)", drop_policy="never_drop") as session:
            moves = Moves(session)
            sequences = []
            for outcome in session.filter_all(images):
                assert isinstance(outcome, Filtered), outcome
                sequences.append(outcome.sequence)
                if outcome.sequence == 20:
                    first.sessions.move(session.id, addresses[1])
            assert sequences == list(range(1, 201)) and moves.count() == 1


def children_of(pid):
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [child for each in tasks for child in each.read_text().split()]


def test_workers_that_shut_down_hand_their_sessions_over(face, servers):
    image = random_image("gray", 64, 48)
    keys = servers[0]._options[1]
    with RunningServer("--workers", "2", "--resume-keys-file", keys) as running:
        workers = children_of(running.process.pid)
        assert len(workers) == 2
        with face.connect(running.tcp) as server, server.session("colorInvert") as session:
            moves, done = Moves(session), threading.Event()

            def replace():
                try:
                    for worker in workers:
                        os.kill(int(worker), signal.SIGTERM)
                        while worker in children_of(running.process.pid):
                            time.sleep(0.05)
                finally:
                    done.set()

            thread = threading.Thread(target=replace)
            thread.start()
            while not done.is_set():
                outcome = session.filter(image, timeout=LIMIT)
                assert isinstance(outcome, Filtered), outcome
            thread.join(LIMIT)
            assert moves.count() >= 1
            assert session.counts.filtered == session.counts.received


def test_an_override_that_begins_during_a_move_is_in_force_after_it(face, servers):
    pytest.importorskip("av")
    from support.encoded_videos import Encoder, picture

    addresses = [each.tcp for each in servers]
    with face.connect(addresses[0]) as first, face.connect(addresses[1]) as second:
        if not any(each.decodes for each in first.info().codecs):
            pytest.skip("the server was built without Codecs")
        encoder, image, label = Encoder("vp8"), picture(0), f"moving {face.name}"
        with first.session(output=Output(format="i420"), label=label) as session:
            moves = Moves(session)

            def is_inverted(**options):
                outcome = session.filter(encoder.frame(image=image, **options), timeout=LIMIT)
                assert isinstance(outcome, Filtered), outcome
                column = 18  # The brightest.
                return outcome.image.plane(0)[column] < image.plane(0)[column] - 30

            assert not is_inverted()
            first.sessions.move(session.id, addresses[1])
            while not second.sessions.list(label=label):
                assert not is_inverted()
            # The session waits there for a key frame.
            first.sessions.override(session.id, "colorInvert", for_=600, reason="test")
            moves.wait_for_state(SessionState.OVERRIDDEN)
            while not moves.count():
                assert is_inverted(is_key_frame=True)
            assert is_inverted()
            reasons = [each.override_reason for each in second.sessions.list(label=label)]
            assert "test" in reasons


def test_an_operator_closes_a_session_with_a_reason(face, servers):
    image = random_image("gray", 64, 48)
    with face.connect(servers[0].tcp) as server, server.session("colorInvert") as session:
        assert isinstance(session.filter(image, timeout=LIMIT), Filtered)
        server.sessions.close(session.id, reason="too loud")
        with pytest.raises(PermissionDenied, match="too loud"):
            for _ in session.events():
                pass
            session.filter(image, timeout=LIMIT)
        assert session.error.details["reason"] == "SESSION_CLOSED"


def test_a_session_that_does_not_reconnect_ends_with_a_move(face, servers):
    with face.connect(servers[0].tcp) as server:
        with server.session("colorInvert", reconnect=False) as session:
            assert not server.sessions.move(session.id, servers[1].tcp)
            events = list(session.events())
            assert any(isinstance(each, StateChanged) for each in events)
            assert isinstance(session.error, Unavailable)


@pytest.mark.parametrize("address", ["nowhere", "unix:/tmp/socket", "127.0.0.1:0", "h:1" * 300])
def test_a_wrong_address_is_refused_with_its_form(face, servers, address):
    with face.connect(servers[0].tcp) as server, server.session() as session:
        with pytest.raises(InvalidArgument, match="address"):
            server.sessions.move(session.id, address)
        assert session.is_connected
