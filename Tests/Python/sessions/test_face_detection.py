"""Faces in a session: their places, ids and attendance, or the refusal of a server without Vision."""

import math
import time

import grpc
import numpy as np
import PIL.Image
import pytest

from sidelight_testing import images
from sidelight_testing.contract import REPOSITORY, frame_filter
from sidelight_testing.session import Session, pipeline

PORTRAIT = REPOSITORY / "Examples/media/portrait.jpg"
# The face in it: the middle, and the side of the square around it.
FACE, SIDE = np.array([224.0, 114.5]), 101.0
WIDTH, HEIGHT, SCALE = 640, 360, 1.3


@pytest.fixture
def has_vision(stub):
    listed = stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=10).filters
    return "faceDetection" in [each.name for each in listed]


@pytest.fixture(scope="module")
def portrait():
    return PIL.Image.open(PORTRAIT).convert("RGB")


def place(sequence):
    """The middle of the face in a frame."""
    return np.array([320 + 60 * math.sin(sequence / 15), 170])


def scene(portrait, sequence):
    """The portrait, which moves before a grey wall."""
    margin = 512
    wall = PIL.Image.new("RGB", (2 * margin + portrait.width, 2 * margin + portrait.height), "#888")
    wall.paste(portrait, (margin, margin))
    left, top = margin + FACE - place(sequence) / SCALE
    picture = wall.resize(
        (WIDTH, HEIGHT), box=(left, top, left + WIDTH / SCALE, top + HEIGHT / SCALE)
    )
    return images.rgb_image(np.asarray(picture))


def test_a_server_without_vision_refuses_with_the_reason(stub, has_vision):
    if has_vision:
        pytest.skip("this server has Vision")
    session = Session(stub, opens=False)
    session.send(open={"pipeline": pipeline("faceDetection")})
    error = session.fail()
    assert error.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert 'the filter "faceDetection" is not available: ' in error.details()


def test_a_face_keeps_its_id_and_is_present_after_a_second(stub, has_vision, portrait):
    if not has_vision:
        pytest.skip("this server is built without Vision")
    with Session(
        stub, pipeline=pipeline(("faceDetection", {"everyNth": 1})), analysis_only=True
    ) as session:
        end = time.monotonic() + 3
        sequence = 0
        while time.monotonic() < end:
            sequence += 1
            session.send_frame(scene(portrait, sequence))
            found = session.receive_until("analysis")
        transcript = session.finish()
    analyses = transcript.analyses
    assert [each.sequence for each in analyses] == session.sent
    assert all(each.filter == "faceDetection" and each.age_us > 0 for each in analyses)
    seen = [each for each in analyses if each.detections]
    assert len(seen) > len(analyses) / 2
    for each in seen:
        (face,) = each.detections
        assert face.kind == "face" and face.tracking_id == 1 and 0 < face.confidence <= 1
        middle = np.array([face.x + face.width / 2, face.y + face.height / 2])
        assert np.abs(middle - place(each.sequence)).max() < 0.15 * SCALE * SIDE
        assert abs(face.width / (SCALE * SIDE) - 1) < 0.15
        assert each.figures["faces"] == 1 and len(each.rows["roll"].values) == 1
    assert found.figures["facesSeen"] == 1
    assert list(found.rows["presentIds"].values) == [1]
    assert 0.9 < found.rows["presentSeconds"].values[0] < 4
