"""Frames through an empty pipeline return unchanged: all formats, odd sizes, padding."""

import pytest

from sidelight_testing import images
from sidelight_testing.contract import pipeline as pipeline_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.session import Session, pipeline

SIZES = [(1, 1), (1, 2), (3, 1), (2, 2), (15, 9), (64, 48), (641, 3), (2, 1080)]
NEVER_DROP = messages.DROP_POLICY_NEVER_DROP


def inactive(wanted):
    for stage in wanted.stages:
        stage.active = False
    return wanted


IDLE_PIPELINES = {
    "no stage": pipeline(),
    "an inactive stage": inactive(pipeline("colorInvert")),
    "sepia of no intensity": pipeline(("sepiaTone", {"intensity": 0})),
    "a vignette of no intensity": pipeline(("vignette", {"intensity": 0})),
    "an empty nested pipeline": pipeline_messages.Pipeline(
        stages=[pipeline_messages.Stage(pipeline=pipeline_messages.Pipeline())]
    ),
}


@pytest.mark.parametrize("idle", IDLE_PIPELINES)
def test_the_bytes_of_every_format_and_size_return(stub, idle):
    sent = [
        form(images.noise(name, width, height))
        for name in images.RAW_FORMATS
        for width, height in SIZES
        for form in (lambda image: image, images.padded)
    ]
    with Session(stub, pipeline=IDLE_PIPELINES[idle], drop_policy=NEVER_DROP) as session:
        for image in sent:
            session.send_frame(image)
        transcript = session.finish()
    assert len(transcript.frames) == len(sent)
    for frame, image in zip(transcript.frames, sent, strict=True):
        assert frame.disposition == messages.DISPOSITION_PASSED_THROUGH
        assert frame.image == image
    assert transcript.stats[-1].passed_through == len(sent)


def test_unmodified_frames_can_return_without_pixels(stub):
    image = images.noise("I420", 64, 48)
    with Session(stub, allow_unmodified=True, drop_policy=NEVER_DROP) as session:
        session.send_frame(image)
        session.select(pipeline("colorInvert"))
        session.send_frame(image)
        unmodified, made = session.finish().frames
    assert unmodified.unmodified and not unmodified.image.WhichOneof("pixels")
    assert unmodified.image.width == 64
    assert not made.unmodified and len(made.image.inline) == len(image.inline)


@pytest.mark.parametrize(
    "name, width, height",
    [("BGRA8", 1920, 1080), ("NV12", 3840, 2160)],
    ids=["1080p BGRA", "4K NV12"],
)
def test_large_frames_pass_both_ways(each_stub, name, width, height):
    image = images.noise(name, width, height)
    with Session(each_stub, drop_policy=NEVER_DROP) as session:
        for _ in range(5):
            session.send_frame(image)
        session.select(pipeline("colorInvert"))
        session.send_frame(image)
        frames = session.finish().frames
    assert [frame.image == image for frame in frames] == [True] * 5 + [False]
    assert len(frames[-1].image.inline) == len(image.inline)
