"""Sessions that lose their server: killed, restarted, shutting down, absent."""

import json
import threading
import time

import pytest
from support.pictures import random_image
from support.restartable_server import RestartableServer

from sidelight import (
    Degraded,
    Dropped,
    DropReason,
    Filtered,
    PassedThrough,
    Stage,
    Unauthenticated,
    Unavailable,
)
from sidelight.events import ConnectionLost, Reconnected

INVERT = Stage("colorInvert", id="look")
LIMIT = 60


class Events:
    """The events of a session, for tests that wait for one."""

    def __init__(self, session):
        self._changed = threading.Condition()
        self.all = []
        session.on_event(self._add)

    def _add(self, event):
        with self._changed:
            self.all.append(event)
            self._changed.notify_all()

    def wait_until(self, is_wanted):
        with self._changed:
            assert self._changed.wait_for(lambda: any(map(is_wanted, self.all)), LIMIT), self.all

    def wait_for(self, kind, count=1):
        with self._changed:
            assert self._changed.wait_for(
                lambda: sum(isinstance(each, kind) for each in self.all) >= count, LIMIT
            ), self.all
        return [each for each in self.all if isinstance(each, kind)]


def inverted(data):
    return bytes(255 - each for each in data)


def test_a_session_outlives_a_killed_server_with_the_same_look(face, restartable):
    image = random_image("gray", 64, 48)
    with face.connect(restartable.address) as server, server.session() as session:
        events = Events(session)
        session.select(INVERT)
        assert isinstance(session.filter(image, timeout=LIMIT), Filtered)
        # Not applied by any frame: requested again on the next connection.
        session.activate("look", False)
        session.activate("look", True)
        before = session.id
        restartable.kill()
        events.wait_for(ConnectionLost)
        outcome = session.filter(image, timeout=LIMIT)
        assert isinstance(outcome, PassedThrough) and outcome.image is image
        assert outcome.failure.code == "UNAVAILABLE" and not session.is_connected
        restartable.start()
        (reconnected,) = events.wait_for(Reconnected)
        assert reconnected.resumed and session.id != before
        outcome = session.filter(image, timeout=LIMIT)
        assert isinstance(outcome, Filtered)
        assert bytes(outcome.image.data) == inverted(image.data)
        assert session.uses_shared_memory
        counts = session.counts
        assert counts.received == 3 == counts.filtered + counts.passed_through


def test_a_session_continues_when_its_asset_is_uploaded_again(face, restartable):
    table = "LUT_3D_SIZE 2\n" + "0 0 0\n" * 8
    black = bytes(64 * 48)
    with face.connect(restartable.address) as server:
        server.assets.put("black.cube", table.encode())
        with server.session('colorCube(asset: "black.cube")', fallback="drop") as session:
            events = Events(session)
            image = random_image("gray", 64, 48)
            assert bytes(session.filter(image, timeout=LIMIT).image.data) == black
            restartable.kill()
            restartable.start()
            events.wait_until(
                lambda each: isinstance(each, ConnectionLost)
                and each.error.details.get("reason") == "UNKNOWN_ASSET"
            )
            assert session.filter(image, timeout=LIMIT).reason is DropReason.DISCONNECTED
            server.assets.put("black.cube", table.encode())
            events.wait_for(Reconnected)
            assert bytes(session.filter(image, timeout=LIMIT).image.data) == black


def test_frames_in_flight_have_outcomes_when_the_server_is_killed(face, restartable):
    image = random_image("bgra", 1280, 720)
    with face.connect(restartable.address) as server:
        with server.session([Stage("median")] * 4, fallback="drop") as session:
            outcomes = []

            def read():
                for outcome in session.outcomes():
                    outcomes.append(outcome)
                    outcome.release()

            reader = threading.Thread(target=read)
            reader.start()
            events = Events(session)
            for _ in range(4):
                session.send(image)
            restartable.kill()
            events.wait_for(ConnectionLost)
            session.send(image)
            session.finish()
            reader.join(LIMIT)
            assert not reader.is_alive()
            assert [each.sequence for each in outcomes] == [1, 2, 3, 4, 5]
            last = outcomes[-1]
            assert isinstance(last, Dropped) and last.reason is DropReason.DISCONNECTED
            assert last.error.code == "UNAVAILABLE"


@pytest.mark.parametrize(
    "fallback, kind",
    [
        ("pass_through", Dropped),
        ("drop", Dropped),
        ("blur", Degraded),
    ],
)
def test_a_pipeline_that_hides_faces_fails_closed(face, restartable, fallback, kind):
    image = random_image("i420", 320, 240)
    with face.connect(restartable.address) as server:
        with server.session([Stage("faceBlur")], fallback=fallback) as session:
            assert not isinstance(session.filter(image, timeout=LIMIT), Dropped)
            events = Events(session)
            restartable.kill()
            events.wait_for(ConnectionLost)
            outcome = session.filter(image, timeout=LIMIT)
            assert isinstance(outcome, kind)
            if kind is Degraded:
                assert outcome.failure and len(set(outcome.image.plane(0))) < 400
                assert outcome.image.bytes() != image.bytes()
            restartable.start()
            events.wait_for(Reconnected)
            assert not isinstance(session.filter(image, timeout=LIMIT), (Dropped, PassedThrough))


def test_a_session_without_reconnection_ends_with_the_error(face, restartable):
    image = random_image("gray", 64, 48)
    with face.connect(restartable.address) as server:
        with server.session(INVERT, reconnect=False) as session:
            session.filter(image, timeout=LIMIT)
            restartable.kill()
            with pytest.raises(Unavailable):
                for _ in session.outcomes():
                    pass
            with pytest.raises(Unavailable):
                session.filter(image, timeout=LIMIT)
            assert session.error.code == "UNAVAILABLE"


def test_attempts_end_after_the_requested_time(face, restartable):
    with face.connect(restartable.address) as server:
        with server.session(INVERT, reconnect=0.2) as session:
            restartable.kill()
            with pytest.raises(Unavailable):
                for _ in session.outcomes():
                    pass


def test_a_session_moves_on_when_its_server_shuts_down(face, restartable):
    image = random_image("gray", 64, 48)
    with face.connect(restartable.address) as server, server.session(INVERT) as session:
        assert isinstance(session.filter(image, timeout=LIMIT), Filtered)
        events = Events(session)
        restartable.terminate()
        events.wait_for(ConnectionLost)
        restartable.process.wait(LIMIT)
        restartable.process.stdout.close()
        assert isinstance(session.filter(image, timeout=LIMIT), PassedThrough)
        restartable.start()
        events.wait_for(Reconnected)
        outcome = session.filter(image, timeout=LIMIT)
        assert bytes(outcome.image.data) == inverted(image.data)


def test_a_file_is_filtered_completely_across_a_restart(face, restartable):
    images = [random_image("gray", 320, 240, seed) for seed in range(60)]
    with face.connect(restartable.address) as server:
        with server.session(INVERT, drop_policy="never_drop", fallback="drop") as session:
            events, outcomes = Events(session), []
            for outcome in session.filter_all(images):
                outcomes.append(outcome)
                if len(outcomes) == 10:
                    restartable.kill()
                    restartable.start()
            events.wait_for(Reconnected)
            assert [each.sequence for each in outcomes] == list(range(1, 61))
            lost = [each for each in outcomes if isinstance(each, Dropped)]
            # Only frames in flight are lost; the others wait for the next connection.
            assert len(lost) <= 8 and all(isinstance(each, Filtered) for each in outcomes[-10:])


def test_a_session_continues_with_a_token_of_another(face, restartable):
    image = random_image("gray", 64, 48)
    with face.connect(restartable.address) as server:
        with server.session() as session:
            session.select(INVERT)
            session.filter(image, timeout=LIMIT)
            token = session.resume_token
        with server.session(resume_token=token) as session:
            outcome = session.filter(image, timeout=LIMIT)
            assert bytes(outcome.image.data) == inverted(image.data)


@pytest.mark.parametrize("address", ["unix:/nonexistent/socket", "127.0.0.1:1"])
def test_an_address_without_a_server_is_an_error_at_once(face, address):
    with face.connect(address) as server:
        session = server.session()
        with pytest.raises(Unavailable):
            session.open()
        session.close()
        with pytest.raises(Unavailable):
            server.info()


@pytest.mark.parametrize("address", ["", "somewhere", "host:port", "ftp://host:1", "host:1/x"])
def test_an_invalid_address_is_refused(face, address):
    with pytest.raises(Exception) as raised:
        face.connect(address)
    assert raised.value.field == "address"


def test_a_token_is_not_sent_without_encryption(face):
    with pytest.raises(Exception) as raised:
        face.connect("example.org:50051", token="secret")
    assert raised.value.field == "token"


def test_a_wrong_token_is_an_authentication_error(face, tmp_path):
    key = {
        "kty": "EC",
        "crv": "P-256",
        "kid": "key",
        "use": "sig",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    }
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": [key]}))
    options = [
        "--token-issuer",
        "https://id.example",
        "--token-audience",
        "sidelight",
        "--token-keys",
        str(keys),
    ]
    calls = []

    def token():
        calls.append(time.monotonic())
        return "wrong"

    with RestartableServer(tmp_path, *options) as server:
        for credentials in (None, "wrong", token):
            with face.connect(server.address, token=credentials) as client:
                with pytest.raises(Unauthenticated):
                    client.filters()
                with pytest.raises(Unauthenticated):
                    client.session().open()
    assert len(calls) == 2


def test_a_function_without_a_token_is_an_authentication_error(face):
    def token():
        raise OSError("no vault")

    with face.connect("127.0.0.1:1", token=token) as client:
        with pytest.raises(Unauthenticated, match="no vault"):
            client.info()
        with pytest.raises(Unauthenticated, match="no vault"):
            client.session().open()
