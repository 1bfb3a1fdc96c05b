"""Faces in a session: their places, ids and attendance, or the refusal of a server without Vision."""

import math
import time

import grpc
import numpy as np
import pytest

from sidelight_testing import images
from sidelight_testing.portraits import SCALE, SIDE, scene
from sidelight_testing.session import Session, pipeline


def place(sequence):
    """The middle of the face in a frame."""
    return np.array([320 + 60 * math.sin(sequence / 15), 170])


def test_a_server_without_vision_refuses_with_the_reason(stub, has_vision):
    if has_vision:
        pytest.skip("this server has Vision")
    session = Session(stub, opens=False)
    session.send(open={"pipeline": pipeline("faceDetection")})
    error = session.fail()
    assert error.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert 'the filter "faceDetection" is not available: ' in error.details()


def test_a_face_keeps_its_id_and_is_present_after_a_second(stub, vision):
    with Session(
        stub, pipeline=pipeline(("faceDetection", {"everyNth": 1})), analysis_only=True
    ) as session:
        begun = time.monotonic()
        sequence = 0
        present = []
        while not present or time.monotonic() - begun < 3:
            assert time.monotonic() - begun < 60, "the face is not present"
            sequence += 1
            session.send_frame(images.rgb_image(scene(place(sequence))))
            found = session.receive_until("analysis")
            present = list(found.rows["presentIds"].values)
        elapsed = time.monotonic() - begun
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
    assert present == [1]
    assert 0.9 < found.rows["presentSeconds"].values[0] < elapsed
