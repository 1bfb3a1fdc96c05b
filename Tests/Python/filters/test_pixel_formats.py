"""Filters compared with NumPy, on all raw formats, at sizes that are not multiples of a vector."""

import numpy as np
import pytest

from sidelight_testing import formulas, images
from sidelight_testing.contract import frame_filter
from sidelight_testing.contract import image as messages
from sidelight_testing.session import pipeline

SIZES = [(1, 1), (2, 1), (1, 3), (17, 9), (64, 48), (641, 3)]
FILTERS = {
    "colorInvert": (pipeline("colorInvert"), formulas.color_invert),
    "grayscale": (pipeline("grayscale"), formulas.grayscale),
    "sepiaTone": (pipeline("sepiaTone"), formulas.sepia_tone),
    "CISepiaTone of 0.5": (
        pipeline(("CISepiaTone", {"inputIntensity": 0.5})),
        lambda colors: formulas.sepia_tone(colors, 0.5),
    ),
    "colorInvert twice": (pipeline("colorInvert", "colorInvert"), lambda colors: colors),
    "sepiaTone, colorInvert": (
        pipeline("sepiaTone", "colorInvert"),
        lambda colors: formulas.color_invert(formulas.sepia_tone(colors)),
    ),
}


def apply(stub, image, wanted):
    request = frame_filter.ApplyRequest(image=image, pipeline=wanted)
    return stub.Apply(request, timeout=60).image


@pytest.mark.parametrize("width, height", SIZES, ids=lambda value: str(value))
@pytest.mark.parametrize("name", ["BGRA8", "RGBA8", "RGB24"])
@pytest.mark.parametrize("filters", FILTERS)
def test_rgb_is_within_one_level_and_alpha_is_kept(stub, filters, name, width, height):
    wanted, formula = FILTERS[filters]
    image = images.noise(name, width, height)
    result = apply(stub, image, wanted)
    expected = formula(images.rgb(image).astype(np.float64))
    assert formulas.difference(images.rgb(result), expected) <= 1
    if name != "RGB24":
        assert np.array_equal(images.alpha(result), images.alpha(image))


@pytest.mark.parametrize("name", ["BGRA8", "RGBA8", "RGB24", "GRAY8"])
def test_inversion_is_exact(stub, name):
    image = images.noise(name, 257, 5)
    result = apply(stub, image, pipeline("colorInvert"))
    assert np.array_equal(images.rgb(result), 255 - images.rgb(image))


def test_grey_frames_stay_grey_under_grayscale(stub):
    image = images.noise("GRAY8", 33, 7)
    result = apply(stub, image, pipeline("grayscale"))
    assert np.array_equal(images.samples(result)[0], images.samples(image)[0])


@pytest.mark.parametrize("width, height", SIZES, ids=lambda value: str(value))
@pytest.mark.parametrize("name", ["I420", "NV12"])
@pytest.mark.parametrize("color_range", ["VIDEO", "FULL"])
@pytest.mark.parametrize("matrix", ["BT601", "BT709"])
@pytest.mark.parametrize("filters", FILTERS)
def test_video_is_within_one_level_in_its_own_matrix_and_range(
    stub, filters, matrix, color_range, name, width, height
):
    wanted, formula = FILTERS[filters]
    image = images.noise(name, width, height)
    image.color.matrix = messages.ColorMatrix.Value(f"COLOR_MATRIX_{matrix}")
    image.color.range = messages.ColorRange.Value(f"COLOR_RANGE_{color_range}")
    result = apply(stub, image, wanted)
    assert result.color.matrix == image.color.matrix
    assert result.color.range == image.color.range
    expected = formulas.through_rgb(
        *images.yuv(image), formula, matrix, full_range=color_range == "FULL"
    )
    for actual, plane in zip(images.yuv(result), expected, strict=True):
        assert formulas.difference(actual, plane) <= 1


@pytest.mark.parametrize("name", ["I420", "NV12"])
def test_grayscale_removes_the_chroma(stub, name):
    image = images.noise(name, 64, 48)
    result = images.samples(apply(stub, image, pipeline("grayscale")))
    assert all(np.abs(plane.astype(np.int16) - 128).max() <= 1 for plane in result[1:])


@pytest.mark.parametrize("name", images.RAW_FORMATS)
def test_padding_changes_no_pixel(stub, name):
    image = images.noise(name, 61, 35)
    wanted = pipeline("sepiaTone", ("gaussianBlur", {"radius": 3}))
    plain = images.samples(apply(stub, image, wanted))
    through_padding = images.samples(apply(stub, images.padded(image), wanted))
    assert all(map(np.array_equal, plain, through_padding))


@pytest.mark.parametrize("name", images.RAW_FORMATS)
@pytest.mark.parametrize("filters", ["gaussianBlur", "pixellate"])
def test_a_flat_picture_stays_flat_up_to_its_edge(stub, filters, name):
    shapes = images.plane_shapes(name, 45, 31)
    planes = [np.full((rows, row_bytes), 100, dtype=np.uint8) for row_bytes, rows in shapes]
    image = images.make_image(name, 45, 31, planes)
    result = images.samples(apply(stub, image, pipeline(filters)))
    assert all(np.abs(plane.astype(np.int16) - 100).max() <= 1 for plane in result)


def test_a_blurred_picture_keeps_its_mean_and_loses_its_contrast(stub):
    image = images.noise("RGB24", 200, 200)
    result = apply(stub, image, pipeline(("gaussianBlur", {"radius": 6})))
    before, after = images.rgb(image).astype(np.float64), images.rgb(result).astype(np.float64)
    assert abs(before.mean() - after.mean()) < 1
    assert after.std() < before.std() / 10


def test_pixellate_makes_squares_of_one_colour(stub):
    scale = 8
    image = images.noise("RGB24", 128, 96)
    result = images.rgb(apply(stub, image, pipeline(("pixellate", {"scale": scale}))))
    # The grid is anchored at the centre, which both sizes put on a multiple of the scale.
    squares = result.reshape(96 // scale, scale, 128 // scale, scale, 3).astype(np.int16)
    assert (squares.max(axis=(1, 3)) - squares.min(axis=(1, 3))).max() == 0
    colors = images.rgb(image).reshape(96 // scale, scale, 128 // scale, scale, 3)
    assert np.abs(squares[:, 0, :, 0] - colors.mean(axis=(1, 3))).max() <= 1
