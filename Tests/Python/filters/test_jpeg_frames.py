"""JPEG frames, and results of a requested shape, checked using Pillow."""

import io

import grpc
import numpy as np
import PIL.Image
import pytest

from sidelight_testing import formulas, images
from sidelight_testing.contract import image as image_messages
from sidelight_testing.contract import pipeline as pipeline_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.session import Session, pipeline

JPEG = image_messages.PIXEL_FORMAT_JPEG
NEVER_DROP = messages.DROP_POLICY_NEVER_DROP


def slopes(width: int, height: int) -> np.ndarray:
    """Returns a picture with smooth edges, as in photographs."""
    x = np.linspace(20, 200, width)[None, :]
    y = np.linspace(30, 190, height)[:, None]
    return np.stack(np.broadcast_arrays(x, y, 220 - (x + y) / 2), axis=-1).astype(np.uint8)


def jpeg(colors: np.ndarray, **options: object):
    content = io.BytesIO()
    PIL.Image.fromarray(colors).save(content, "JPEG", **{"quality": 92, **options})
    return image_messages.Image(format=JPEG, inline=content.getvalue())


def read(image) -> np.ndarray:
    return np.asarray(PIL.Image.open(io.BytesIO(image.inline)).convert("RGB"))


def exchange(stub, *frames, **open_fields):
    with Session(stub, drop_policy=NEVER_DROP, **open_fields) as session:
        for each in frames:
            session.send_frame(each)
        return session.finish()


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_is_filtered_and_returned_as_a_jpeg(stub, subsampling, progressive):
    colors = slopes(97, 61)
    sent = jpeg(colors, subsampling=subsampling, progressive=progressive)
    (frame,) = exchange(stub, sent, pipeline=pipeline("sepiaTone")).frames
    assert frame.disposition == messages.DISPOSITION_FILTERED
    assert frame.image.format == JPEG
    assert (frame.image.width, frame.image.height) == (97, 61)
    expected = formulas.levels(formulas.sepia_tone(read(sent).astype(np.float64)))
    assert np.abs(read(frame.image).astype(int) - expected).mean() < 2


def test_a_grey_jpeg_can_become_coloured(stub):
    grey = slopes(64, 48)[..., 0]
    (frame,) = exchange(stub, jpeg(grey), pipeline=pipeline("sepiaTone")).frames
    colors = np.repeat(grey[..., None], 3, axis=-1).astype(np.float64)
    expected = formulas.levels(formulas.sepia_tone(colors))
    assert np.abs(read(frame.image).astype(int) - expected).mean() < 2


def test_an_unfiltered_jpeg_returns_unchanged(stub):
    sent = jpeg(slopes(97, 61))
    (frame,) = exchange(stub, sent).frames
    assert frame.disposition == messages.DISPOSITION_PASSED_THROUGH
    assert frame.image == sent


def test_a_jpeg_can_return_as_pixels(stub):
    sent = jpeg(slopes(97, 61))
    output = pipeline_messages.OutputSpec(format=image_messages.PIXEL_FORMAT_RGB24)
    (frame,) = exchange(stub, sent, output=output).frames
    assert frame.disposition == messages.DISPOSITION_FILTERED
    # The other library interpolates chroma, the server repeats it.
    assert np.abs(images.rgb(frame.image).astype(int) - read(sent)).max() <= 6


@pytest.mark.parametrize("name", images.RAW_FORMATS)
def test_pixels_can_return_as_a_jpeg_of_a_given_quality(stub, name):
    sent = images.noise(name, 160, 120)
    sizes = []
    for quality in (20, 95):
        output = pipeline_messages.OutputSpec(format=JPEG, jpeg_quality=quality)
        (frame,) = exchange(stub, sent, output=output).frames
        assert read(frame.image).shape == (120, 160, 3)
        sizes.append(len(frame.image.inline))
    assert sizes[0] < sizes[1] / 2


@pytest.mark.parametrize("wanted, factors", [("420", (2, 2)), ("422", (2, 1)), ("444", (1, 1))])
def test_the_requested_chroma_subsampling_is_used(stub, wanted, factors):
    output = pipeline_messages.OutputSpec(
        format=JPEG,
        jpeg_subsampling=pipeline_messages.ChromaSubsampling.Value(f"CHROMA_SUBSAMPLING_{wanted}"),
    )
    (frame,) = exchange(stub, images.rgb_image(slopes(64, 48)), output=output).frames
    layers = PIL.Image.open(io.BytesIO(frame.image.inline)).layer
    assert layers[0][1:3] == factors
    assert np.abs(read(frame.image).astype(int) - slopes(64, 48)).mean() < 2


@pytest.mark.parametrize("fit", ["ASPECT_FIT", "ASPECT_FILL", "STRETCH"])
def test_an_image_is_fitted_into_the_requested_size(stub, fit):
    colors = slopes(128, 64)
    output = pipeline_messages.OutputSpec(
        width=64, height=64, fit=pipeline_messages.FitMode.Value(f"FIT_MODE_{fit}")
    )
    (frame,) = exchange(stub, images.rgb_image(colors), output=output).frames
    result = images.rgb(frame.image).astype(int)
    assert result.shape == (64, 64, 3)
    whole = colors.astype(float)
    if fit == "ASPECT_FIT":
        # Half the size, between bars of 16 rows.
        half = whole.reshape(32, 2, 64, 2, 3).mean(axis=(1, 3))
        assert np.abs(result[16:48] - half).max() <= 1
        assert (result[:16] == 0).all() and (result[48:] == 0).all()
    elif fit == "ASPECT_FILL":
        assert (result == colors[:, 32:96]).all()
    else:
        assert np.abs(result - whole.reshape(64, 64, 2, 3).mean(axis=2)).max() <= 1


def test_upright_turns_the_pixels(stub):
    colors = slopes(40, 30)
    sent = images.rgb_image(colors)
    sent.orientation.rotation = image_messages.ROTATION_90
    sent.orientation.mirrored = True
    output = pipeline_messages.OutputSpec(upright=True)
    (frame,) = exchange(stub, sent, output=output).frames
    assert not frame.image.HasField("orientation")
    assert (images.rgb(frame.image) == np.rot90(colors[:, ::-1], k=-1)).all()


BAD = {
    "cut off": lambda file: file[:-100],
    "nothing": lambda file: b"",
    "a PNG": lambda file: b"\x89PNG\r\n\x1a\n",
    "of CMYK": lambda file: jpeg_of("CMYK"),
}


def jpeg_of(mode: str) -> bytes:
    content = io.BytesIO()
    PIL.Image.new(mode, (16, 16)).save(content, "JPEG")
    return content.getvalue()


@pytest.mark.parametrize("kind", BAD)
def test_an_invalid_file_drops_that_frame_and_not_the_stream(stub, kind):
    good = jpeg(slopes(64, 48))
    bad = image_messages.Image(format=JPEG, inline=BAD[kind](good.inline))
    transcript = exchange(stub, bad, good, pipeline=pipeline("sepiaTone"))
    (dropped,) = transcript.dropped
    assert dropped.reason == messages.DROP_REASON_INVALID_FRAME
    assert dropped.diagnostic.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert "frame.image" in dropped.diagnostic.message
    assert [frame.sequence for frame in transcript.frames] == [2]
