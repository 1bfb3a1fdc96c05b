"""Participants of one caller: their names, quotas, assets and resume tokens."""

import json
import time
import urllib.request

import grpc
import numpy as np
import pytest

from sidelight_testing import assets, images
from sidelight_testing.answers import refusal
from sidelight_testing.contract import assets as asset_messages
from sidelight_testing.contract import assets_service, frame_filter, service
from sidelight_testing.contract import session as messages
from sidelight_testing.contract import sessions, sessions_service
from sidelight_testing.server import Server, connect
from sidelight_testing.session import Session, pipeline

SECONDS = 60
# One that the client exceeds on a busy machine too.
RATE = 5
FRAMES = 200
NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
RATE_LIMITED = messages.DROP_REASON_RATE_LIMITED
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
INVALID = grpc.StatusCode.INVALID_ARGUMENT
PRECONDITION = grpc.StatusCode.FAILED_PRECONDITION
PICTURE = images.noise("RGB24", 16, 16)
SEPIA = pipeline("sepiaTone")
HAT = pipeline(("overlay", {"asset": "hat", "fit": "stretch"}))
RED, BLUE = (
    assets.png(np.full((4, 4, 4), color, dtype=np.uint8))
    for color in ((255, 0, 0, 255), (0, 0, 255, 255))
)


@pytest.fixture
def connection(server):
    with connect(server.addresses["tcp"]) as channel:
        yield channel


@pytest.fixture
def owners(connection):
    """The service of assets; assets of the tests are deleted afterwards."""
    stub = assets_service.AssetsStub(connection)
    yield stub
    for participant in ("", "ana", "ben"):
        for each in listed(stub, participant):
            own = each.origin == asset_messages.ASSET_ORIGIN_PARTICIPANT
            if own or each.origin == asset_messages.ASSET_ORIGIN_CALLER:
                delete(stub, each.name, participant if own else "")


def listed(stub, participant: str = "") -> list:
    request = asset_messages.ListAssetsRequest(participant=participant)
    return list(stub.ListAssets(request, timeout=SECONDS).assets)


def delete(stub, name: str, participant: str = "") -> None:
    request = asset_messages.DeleteAssetRequest(name=name, participant=participant)
    stub.DeleteAsset(request, timeout=SECONDS)


def open_session(stub, participant: str, **fields: object) -> Session:
    return Session(
        stub, seconds=SECONDS, participant=participant, **{"drop_policy": NEVER_DROP} | fields
    )


def color(stub, participant: str) -> list[int]:
    """The first pixel of a picture under the asset `hat`, in a session and as a still image."""
    with open_session(stub, participant, pipeline=HAT) as session:
        session.send_frame(PICTURE)
        frame = session.receive_until("frame").image
        session.finish()
    request = frame_filter.ApplyRequest(image=PICTURE, pipeline=HAT, participant=participant)
    still = stub.Apply(request, timeout=SECONDS).image
    assert still.inline == frame.inline
    return images.rgb(still)[0, 0].tolist()


HOSTILE = [
    ("a" * 129, "has 129 bytes; the limit is 128"),
    ("é" * 65, "has 130 bytes; the limit is 128"),
    ("x" * 500_000, "has 500000 bytes; the limit is 128"),
    ("a\nb", "contains the character U+000A, which is not printable; leave it out"),
    ("\0", "contains the character U+0000, which is not printable; leave it out"),
    ("\x1b[31m", "contains the character U+001B, which is not printable; leave it out"),
    ("\x9b", "contains the character U+009B, which is not printable; leave it out"),
    ("a\u200bb", "contains the character U+200B, which is not printable; leave it out"),
    ("\u2029", "contains the character U+2029, which is not printable; leave it out"),
]


@pytest.mark.parametrize("name, words", HOSTILE)
def test_a_hostile_name_is_refused_everywhere(connection, name, words):
    frames = service.FrameFilterStub(connection)
    owners = assets_service.AssetsStub(connection)
    operators = sessions_service.SessionsStub(connection)
    still = frame_filter.ApplyRequest(image=PICTURE, participant=name)
    check = frame_filter.CheckPipelineRequest(text="", participant=name)
    catalogue = frame_filter.ListFiltersRequest(participant=name)
    override = sessions.OverrideSessionRequest(participant=name)
    calls = {
        "open.participant": [lambda: open_session(frames, name)],
        "header.participant": [lambda: assets.put(owners, "x", RED, participant=name)],
        "participant": [
            lambda: frames.Apply(still, timeout=SECONDS),
            lambda: frames.CheckPipeline(check, timeout=SECONDS),
            lambda: frames.ListFilters(catalogue, timeout=SECONDS),
            lambda: listed(owners, name),
            lambda: delete(owners, "x", name),
            lambda: operators.OverrideSession(override, timeout=SECONDS),
            lambda: operators.ListSessions(
                sessions.ListSessionsRequest(participant=name), timeout=SECONDS
            ),
        ],
    }
    for field, each in calls.items():
        for call in each:
            assert refusal(call) == (INVALID, f"{field}: {words}")


@pytest.mark.parametrize("name", ["", "a" * 128, "Ana María *", "東京", "a,b+c=d%20"])
def test_a_name_is_listed_as_it_was_sent(connection, name):
    stub = service.FrameFilterStub(connection)
    operators = sessions_service.SessionsStub(connection)
    with open_session(stub, name, label="names") as session:
        request = sessions.ListSessionsRequest(participant=name, label="names")
        [info] = operators.ListSessions(request, timeout=SECONDS).sessions
        assert info.session_id == session.opened.session_id
        assert info.participant == name and info.caller == "ipv4:127.0.0.1"
        assert session.opened.limits.max_participant_bytes == 128
        assert session.opened.limits.max_allowed_filters == 256
        session.finish()


def test_two_participants_have_assets_of_the_same_name(connection, owners):
    stub = service.FrameFilterStub(connection)
    for participant, file in (("ana", RED), ("ben", BLUE)):
        stored = assets.put(owners, "hat", file, participant=participant).asset
        assert stored.origin == asset_messages.ASSET_ORIGIN_PARTICIPANT
    assert color(stub, "ana") == [255, 0, 0]
    assert color(stub, "ben") == [0, 0, 255]
    for participant in ("", "carol"):
        assert listed(owners, participant) == []
        code, sentence = refusal(lambda: color(stub, participant))
        assert code == INVALID and 'there is no asset named "hat"' in sentence
        code, _ = refusal(lambda: delete(owners, "hat", participant))
        assert code == grpc.StatusCode.NOT_FOUND
    # All see the caller's asset, unless a participant has one of that name.
    assets.put(owners, "hat", BLUE)
    assert color(stub, "carol") == [0, 0, 255] and color(stub, "ana") == [255, 0, 0]
    assert [each.origin for each in listed(owners, "ana")] == [
        asset_messages.ASSET_ORIGIN_PARTICIPANT
    ]
    delete(owners, "hat", "ana")
    assert color(stub, "ana") == [0, 0, 255]


@pytest.fixture(scope="module")
def limited():
    options = {
        "--participant-frames-per-second": RATE, "--max-sessions-per-participant": 1,
        "--max-assets-per-caller": 2, "--admin": "127.0.0.1:0",
    }  # fmt: skip
    with Server(*(str(each) for pair in options.items() for each in pair)) as running:
        yield running
        assert running.process.poll() is None, running.log


@pytest.fixture
def limited_connection(limited):
    with connect(limited.addresses["tcp"]) as channel:
        yield channel


def test_frames_count_per_participant(limited_connection):
    stub = service.FrameFilterStub(limited_connection)

    def dropped(participant: str) -> int:
        began = time.monotonic()
        with open_session(
            stub, participant, drop_policy=messages.DROP_POLICY_NEWEST_WINS
        ) as session:
            # One at a time, so frames are dropped for this reason only.
            for _ in range(FRAMES):
                session.send_frame(PICTURE)
                while session.receive().WhichOneof("kind") not in ("frame", "dropped"):
                    pass
            stats = session.finish().stats[-1]
        assert stats.received == FRAMES
        reasons = {each.reason: each.count for each in stats.dropped}
        assert set(reasons) <= {RATE_LIMITED}
        lost = reasons.get(RATE_LIMITED, 0)
        assert not participant or FRAMES - lost <= RATE * (1 + time.monotonic() - began) + 1
        return lost

    assert dropped("") == 0, "the caller itself has no limit"
    for participant in ("frames-1", "frames-2"):
        # Each has the frames of a burst.
        assert 0 < dropped(participant) <= FRAMES - RATE
    request = frame_filter.ApplyRequest(image=PICTURE, participant="stills")

    def apply_all() -> None:
        for _ in range(10_000):
            stub.Apply(request, timeout=SECONDS)

    code, sentence = refusal(apply_all)
    assert code == EXHAUSTED
    assert 'participant "stills"' in sentence and "participant_frames_per_second" in sentence
    # Others are not affected.
    request.participant = "other"
    stub.Apply(request, timeout=SECONDS)


def test_sessions_count_per_participant(limited_connection):
    stub = service.FrameFilterStub(limited_connection)
    with open_session(stub, "ana") as first, open_session(stub, "ben"):
        code, sentence = refusal(lambda: open_session(stub, "ana"))
        assert code == EXHAUSTED
        assert "max_sessions_per_participant" in sentence and '"ana"' in sentence
        first.finish()
    with open_session(stub, "ana") as again:
        again.finish()


def test_assets_of_participants_count_for_their_caller(limited_connection):
    owners = assets_service.AssetsStub(limited_connection)
    for participant in ("ana", "ben"):
        assets.put(owners, "hat", RED, participant=participant)
    for participant in ("carol", ""):
        code, sentence = refusal(lambda: assets.put(owners, "hat", RED, participant=participant))
        assert code == EXHAUSTED and "max_assets_per_caller" in sentence
    delete(owners, "hat", "ana")
    assets.put(owners, "hat", RED)


def test_status_and_log_name_the_participant(limited, limited_connection):
    stub = service.FrameFilterStub(limited_connection)
    with open_session(stub, "zoe") as session:
        url = f"http://{limited.addresses['admin']}/status.json"
        with urllib.request.urlopen(url, timeout=60) as answer:
            opened = {each["id"]: each for each in json.load(answer)["sessions"]}
        assert opened[session.opened.session_id]["participant"] == "zoe"
        session.finish()
    for event in ("session opened", "session ended"):
        assert any(event in line and "zoe" in line for line in limited.log.splitlines())


@pytest.mark.parametrize("other", ["", "ben", "ana "])
def test_a_token_is_valid_for_its_participant_only(connection, other):
    stub = service.FrameFilterStub(connection)
    with open_session(stub, "ana", pipeline=SEPIA) as session:
        token = session.opened.resume_token
        session.send_frame(PICTURE)
        before = session.receive_until("frame").image
        session.finish()
    code, sentence = refusal(lambda: open_session(stub, other, resume_token=token))
    assert code == PRECONDITION and sentence.startswith("open.resume_token: is not one of")
    with open_session(stub, "ana", resume_token=token) as session:
        session.send_frame(PICTURE)
        assert session.receive_until("frame").image == before
        session.finish()
