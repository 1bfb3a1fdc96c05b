"""A session of a hundred frames with a client that is generated from Protos/ alone."""

import numpy as np
import pytest

from sidelight_testing import formulas, images
from sidelight_testing.contract import session as messages
from sidelight_testing.session import Session, pipeline

FRAMES = 100
WIDTH, HEIGHT = 160, 90
SEPIA_INTENSITY = 0.8

# From which frame on: the pipeline, what it computes, and by how many levels it may differ.
SELECTIONS = {
    1: (pipeline("colorInvert"), formulas.color_invert, 0),
    35: (pipeline("grayscale"), formulas.grayscale, 1),
    68: (
        pipeline(("sepiaTone", {"intensity": SEPIA_INTENSITY})),
        lambda colors: formulas.sepia_tone(colors, SEPIA_INTENSITY),
        1,
    ),
}


def picture(sequence: int) -> np.ndarray:
    """A picture like no other frame's, so an outcome cannot be mistaken for another."""
    random = np.random.default_rng(sequence)
    return random.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def transcript(each_stub):
    never_drop = messages.DROP_POLICY_NEVER_DROP
    with Session(each_stub, pipeline=SELECTIONS[1][0], drop_policy=never_drop) as session:
        assert session.opened.drop_policy == never_drop
        assert session.opened.revision == 1
        for sequence in range(1, FRAMES + 1):
            if sequence in SELECTIONS and sequence != 1:
                session.select(SELECTIONS[sequence][0], request_id=1000 + sequence)
            session.send_frame(
                images.rgb_image(picture(sequence)),
                capture_time_ns=sequence * 33_000_000,
                rtp_timestamp=(2**32 - 50 + sequence) % 2**32,
                tags={"name": f"frame {sequence}"},
            )
        return session.finish()


def selected(sequence: int) -> int:
    """The frame from which the selection counts that made this frame."""
    return max(first for first in SELECTIONS if first <= sequence)


def test_every_frame_returns_once_and_in_order(transcript):
    assert [frame.sequence for frame in transcript.frames] == list(range(1, FRAMES + 1))
    assert not transcript.dropped
    assert not transcript.errors


def test_pixels_match_the_formula_of_their_pipeline(transcript):
    for frame in transcript.frames:
        _, formula, tolerance = SELECTIONS[selected(frame.sequence)]
        expected = formula(picture(frame.sequence).astype(np.float64))
        difference = formulas.difference(images.rgb(frame.image), expected)
        assert difference <= tolerance, f"frame {frame.sequence} is {difference} levels off"


def test_each_outcome_has_its_revision_and_disposition(transcript):
    revisions = {first: 1 + index for index, first in enumerate(SELECTIONS)}
    for frame in transcript.frames:
        assert frame.revision == revisions[selected(frame.sequence)]
        assert frame.disposition == messages.DISPOSITION_FILTERED
        assert not frame.unmodified


def test_applied_reports_each_change_and_its_first_frame(transcript):
    told = [(each.revision, each.first_sequence, each.request_id) for each in transcript.applied]
    assert told == [(1, 1, 0), (2, 35, 1035), (3, 68, 1068)]
    for message, following in zip(transcript.all, transcript.all[1:]):
        if message.WhichOneof("kind") == "applied":
            assert following.frame.sequence == message.applied.first_sequence


def test_tags_and_capture_times_return_unchanged(transcript):
    for frame in transcript.frames:
        assert frame.capture_time_ns == frame.sequence * 33_000_000
        assert frame.rtp_timestamp == (2**32 - 50 + frame.sequence) % 2**32
        assert dict(frame.tags) == {"name": f"frame {frame.sequence}"}


def test_the_last_message_has_the_final_counts(transcript):
    assert transcript.all[-1].WhichOneof("kind") == "stats"
    stats = transcript.stats[-1]
    assert stats.final
    assert (stats.received, stats.filtered, stats.passed_through) == (FRAMES, FRAMES, 0)
    assert (stats.degraded, len(stats.dropped), stats.in_flight) == (0, 0, 0)
    assert stats.bytes_in == stats.bytes_out == FRAMES * WIDTH * HEIGHT * 3


def test_each_outcome_has_its_timing(transcript):
    for frame in transcript.frames:
        timing = frame.timing
        assert timing.queue_us + timing.process_us <= timing.total_us < 60_000_000
