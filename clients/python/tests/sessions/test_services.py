"""Calls without a session: stills, catalogue, checks, assets, operators."""

import time

import pytest
from support.pictures import random_image
from support.running_server import REPOSITORY, RunningServer

from sidelight import (
    FailedPrecondition,
    Filtered,
    Image,
    InvalidArgument,
    NotFound,
    Output,
    SidelightError,
    Stage,
    Unavailable,
)
from sidelight.pipelines import height

HAT = REPOSITORY / "Examples/media/hat.png"


def test_a_still_is_filtered_like_a_frame(server):
    image = random_image("bgra", 33, 17)
    outcome = server.apply(image, Stage("sepiaTone"))
    assert isinstance(outcome, Filtered) and outcome.timing.process > 0
    with server.session(Stage("sepiaTone")) as session:
        assert session.filter(image, timeout=60).image.bytes() == outcome.image.bytes()
    smaller = server.apply(
        image, Stage("sepiaTone"), output=Output(width=8, height=8, format="png")
    )
    assert bytes(smaller.image.data[1:4]) == b"PNG"
    with pytest.raises(InvalidArgument) as raised:
        server.apply(image, Stage("sepiaTome"))
    assert raised.value.suggestion == "sepiaTone"


def test_filters_are_listed(server):
    filters = server.filters()
    assert filters["sepiaTone"].parameters and len(filters) > 20
    assert filters["sepiaTone"].core_image_name == "CISepiaTone"
    assert filters["bloom"].examples == ({"radius": height(0.03125), "intensity": 1.0},)
    assert "soft" in filters["bloom"].keywords
    overlay = filters["overlay"].parameters
    assert overlay["asset"].asset_kind == "image"
    assert overlay["scale"].default_depends_on == "anchor"
    assert overlay["scale"].choice_defaults == {"forehead": 1.7, "mouth": 0.6}
    assert set(server.filters("blur")) < set(filters)
    with pytest.raises(InvalidArgument):
        server.filters("nothing")


def test_pipelines_are_checked(server):
    checked = server.check("sepiaTone(intensity: 0.5),vignette", width=640, height=360)
    assert checked.text == "sepiaTone(intensity: 0.5), vignette"
    assert [each.content for each in checked.pipeline.stages] == ["sepiaTone", "vignette"]
    assert checked.passes and checked.passes[0].filters
    assert server.check(checked.pipeline).text == checked.text
    with pytest.raises(InvalidArgument) as raised:
        server.check("vignette, sepiaTome")
    assert raised.value.suggestion == "sepiaTone"


def test_the_server_describes_itself(server):
    info = server.info()
    assert info.version and "shared_memory" in info.features
    assert info.limits["max_stages"] == 64 and info.frames.received >= 0


def test_the_servers_of_a_fleet_are_placed(face, server, running_server):
    with RunningServer("--peers", running_server.tcp) as asked, face.connect(asked.tcp) as client:
        deadline = time.monotonic() + 60
        while True:
            try:
                assert client.place("room 7", cost=0.1) == [running_server.tcp]
                break
            except Unavailable:
                # It has not read the other's load yet.
                assert time.monotonic() < deadline
        with pytest.raises(InvalidArgument):
            client.place(cost=2)
    with pytest.raises(FailedPrecondition):
        server.place(participant="alice")


def test_assets_are_stored_used_and_deleted(server):
    for name, data in (("hat", HAT), ("bytes", HAT.read_bytes())):
        asset = server.assets.put(name, data)
        assert (asset.name, asset.kind, asset.origin) == (name, "image", "caller")
        assert asset.file_bytes == HAT.stat().st_size and len(asset.sha256) == 32
    names = {each.name for each in server.assets.list()}
    assert {"hat", "bytes"} <= names
    server.assets.delete("hat")
    server.assets.delete("bytes")
    assert not {"hat", "bytes"} & {each.name for each in server.assets.list()}
    with pytest.raises(NotFound):
        server.assets.delete("hat")
    with pytest.raises(SidelightError):
        server.assets.put("broken", b"no picture")


def test_operators_see_and_override_sessions(server):
    black = Image("gray", 16, 16, bytes(256))
    with server.session(label="ana") as session:
        assert bytes(session.filter(black, timeout=60).image.data) == bytes(256)
        (info,) = server.sessions.list(label="ana")
        assert info.session_id == session.id and info.label == "ana"
        assert info.stats.received == 1 and (info.width, info.height) == (16, 16)
        snapshots = server.sessions.watch(interval=0.1, session_id=session.id)
        assert [each.session_id for each in next(snapshots)] == [session.id]
        snapshots.close()
        override = server.sessions.override(
            session.id, Stage("colorInvert"), for_=60, reason="test"
        )
        outcome = session.filter(black, timeout=60)
        assert outcome.revision == override.revisions[session.id]
        assert set(outcome.image.data) == {255}
        assert server.sessions.list(label="ana")[0].override_reason == "test"
        server.sessions.end_override(session.id)
        assert set(session.filter(black, timeout=60).image.data) == {0}
    with pytest.raises(NotFound):
        server.sessions.override("nobody", Stage("colorInvert"), for_=60)
    with pytest.raises(SidelightError, match="exactly one"):
        server.sessions.override(pipeline=Stage("colorInvert"), for_=60)


def test_calls_have_a_time_limit(face):
    # An address that does not answer: the packets of this network are discarded (RFC 5737).
    with face.connect("192.0.2.1:50051") as server:
        with pytest.raises(SidelightError) as raised:
            server.apply(random_image("gray", 2, 2), None, timeout=0.2)
        assert raised.value.code in ("DEADLINE_EXCEEDED", "UNAVAILABLE")
