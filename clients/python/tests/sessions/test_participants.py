"""Participants of one caller, and the filters that a session may use."""

import pytest
from support.running_server import REPOSITORY

from sidelight import Filtered, Image, InvalidArgument, NotFound, PermissionDenied, Stage

HAT = REPOSITORY / "Examples/media/hat.png"
BLACK = Image("gray", 16, 16, bytes(256))


def test_filters_that_are_not_allowed_are_refused_by_name(server):
    with server.session("sepiaTone", allowed_filters=["sepiaTone", "color*"]) as session:
        with pytest.raises(PermissionDenied, match="vignette"):
            session.select("sepiaTone, vignette").accepted(timeout=60)
        session.select(Stage("colorInvert")).accepted(timeout=60)
        outcome = session.filter(BLACK, timeout=60)
        assert isinstance(outcome, Filtered) and set(outcome.image.data) == {255}
    session = server.session("vignette", allowed_filters=["sepiaTone"])
    with pytest.raises(PermissionDenied, match="vignette"):
        session.open()
    session.close()


def test_an_empty_list_permits_no_filter_and_its_absence_all(server):
    for allowed in ([], iter(())):
        with server.session(allowed_filters=allowed) as session:
            for pipeline in ("sepiaTone", "overlay(asset: hat.png)"):
                with pytest.raises(PermissionDenied, match="not permitted by open.allowed_filters"):
                    session.select(pipeline).accepted(timeout=60)
            assert bytes(session.filter(BLACK, timeout=60).image.data) == bytes(256)
    with server.session("colorInvert", allowed_filters=None) as session:
        assert isinstance(session.filter(BLACK, timeout=60), Filtered)


def test_assets_belong_to_participants(server):
    server.assets.put("private", HAT, participant="ana")
    try:
        names = {each.name: each.origin for each in server.assets.list(participant="ana")}
        assert names["private"] == "participant"
        assert "private" not in {each.name for each in server.assets.list()}
        pipeline = Stage("overlay", {"asset": "private"})
        with server.session(pipeline, participant="ana") as session:
            assert session.id
        session = server.session(pipeline, participant="bob")
        with pytest.raises((InvalidArgument, NotFound), match="private"):
            session.open()
        session.close()
        with pytest.raises(NotFound):
            server.assets.delete("private", participant="bob")
    finally:
        server.assets.delete("private", participant="ana")


def test_all_sessions_of_a_participant_are_overridden(server):
    with server.session(participant="ana") as first, server.session(participant="bob") as second:
        override = server.sessions.override(
            participant="ana", pipeline=Stage("colorInvert"), for_=60
        )
        assert set(override.revisions) == {first.id}
        assert set(first.filter(BLACK, timeout=60).image.data) == {255}
        assert set(second.filter(BLACK, timeout=60).image.data) == {0}
        (info,) = server.sessions.list(participant="ana")
        assert (info.session_id, info.participant) == (first.id, "ana")
        server.sessions.end_override(participant="ana")
        assert set(first.filter(BLACK, timeout=60).image.data) == {0}


def test_text_is_accepted_wherever_a_pipeline_is(server):
    assert set(server.apply(BLACK, "colorInvert").image.data) == {255}
    with pytest.raises(InvalidArgument) as raised:
        server.apply(BLACK, "vignette, sepiaTome")
    assert (raised.value.line, raised.value.column) == (1, 11)
    with server.session() as session:
        server.sessions.override(session.id, "colorInvert", for_=60)
        assert set(session.filter(BLACK, timeout=60).image.data) == {255}
