"""Filters that follow the light slowly, over the frames of sessions."""

import math

import numpy as np
import pytest

from sidelight_testing import images
from sidelight_testing.contract import session as messages
from sidelight_testing.session import Session, pipeline

WARM, NEUTRAL = (138, 116, 110), (120, 120, 120)
WARMTH = math.log(WARM[0] / WARM[2])
# A frame's first capture time, and a second, in nanoseconds.
START, SECOND = 1_700_000_000_000_000_000, 1_000_000_000
BALANCE = ("whiteBalance", {"smoothing": 2})


def flat(color: tuple[int, int, int]):
    return images.rgb_image(np.tile(np.array(color, dtype=np.uint8), (18, 32, 1)))


class Stream:
    """A session that filters frames one at a time."""

    def __init__(self, stub, *filters, **fields: object) -> None:
        self.session = Session(
            stub, pipeline=pipeline(*filters), drop_policy=messages.DROP_POLICY_NEVER_DROP, **fields
        )

    def __enter__(self) -> "Stream":
        self.session.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self.session.__exit__(*failure)

    def warmth(self, color: tuple[int, int, int], seconds: float) -> float:
        """Red over blue of the result for a frame that was captured at a time, as a logarithm."""
        self.session.send_frame(flat(color), capture_time_ns=START + round(seconds * SECOND))
        red, _, blue = images.rgb(self.session.receive_until("frame").image)[0, 0].astype(float)
        return math.log(red / blue)


def test_the_correction_follows_capture_times(stub):
    """However fast the frames arrive, and whatever is sent in between."""
    results = []
    for times in ([1], [0.5, 1], [0.1, 0.2, 0.7, 0.7, 0.9, 1]):
        with Stream(stub, BALANCE) as stream:
            assert stream.warmth(WARM, 0) == pytest.approx(0, abs=0.02)
            results.append([stream.warmth(NEUTRAL, time) for time in times][-1])
            stream.session.finish()
    assert results == pytest.approx([-WARMTH * math.exp(-0.5)] * 3, abs=0.025)


def test_a_pause_is_time_that_passes(stub):
    with Stream(stub, BALANCE) as stream:
        stream.warmth(WARM, 0)
        stream.session.send(pause=messages.Pause())
        stream.session.send(resume=messages.Resume())
        assert stream.warmth(NEUTRAL, 2) == pytest.approx(-WARMTH / math.e, abs=0.025)
        stream.session.finish()


def test_another_pipeline_without_the_filter_and_a_resumed_session_start_again(stub):
    with Stream(stub, BALANCE) as stream:
        stream.warmth(WARM, 0)
        stream.session.select(pipeline("sepiaTone", BALANCE))
        stream.session.select(pipeline("hueAdjust", BALANCE))
        assert stream.warmth(NEUTRAL, 0) == pytest.approx(-WARMTH, abs=0.025), "it continues"
        stream.session.select(pipeline("lowLight"))
        stream.warmth(NEUTRAL, 0)
        stream.session.select(pipeline(BALANCE))
        assert stream.warmth(NEUTRAL, 0) == pytest.approx(0, abs=0.02)
        stream.warmth(WARM, 30)
        token = stream.session.opened.resume_token
        stream.session.finish()
    assert token
    with Stream(stub, BALANCE, resume_token=token) as stream:
        assert stream.warmth(NEUTRAL, 30) == pytest.approx(0, abs=0.02)
        stream.session.finish()
