"""Filters with a documented formula, compared with NumPy over gRPC.

Within one level of 255; where an oracle says two, its Gaussian is so wide that the server works on a
reduced picture.
"""

import inspect

import grpc
import numpy as np
import pytest

from sidelight_testing import formulas, images, oracle
from sidelight_testing.contract import catalogue, frame_filter, service
from sidelight_testing.contract import image as messages
from sidelight_testing.session import pipeline

# The filters that compute the chroma of 4:2:0 from the pixels that share it.
SUMS_OVER_PIXELS = {"boxBlur", "gaussianBlur", "motionBlur", "unsharpMask"}
# No multiple of any vector, and even, so planes of chroma have whole samples.
WIDTH, HEIGHT = 62, 46


@pytest.fixture(scope="module")
def filters(server):
    """The filters that the server lists."""
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        request = frame_filter.ListFiltersRequest()
        return service.FrameFilterStub(channel).ListFilters(request, timeout=60).filters


def has_asset(description) -> bool:
    return any(
        parameter.kind == catalogue.PARAMETER_KIND_ASSET for parameter in description.parameters
    )


def apply(stub, image, *wanted):
    request = frame_filter.ApplyRequest(image=image, pipeline=pipeline(*wanted))
    return stub.Apply(request, timeout=60).image


def test_every_formula_has_an_oracle(filters):
    """Filters that need an asset, and analyses, cannot be reached with `Apply` alone."""
    known = {each.filter for each in oracle.ORACLES} | set(oracle.PRESETS)
    formulas = {
        each.name
        for each in filters
        if each.fidelity == catalogue.FIDELITY_FORMULA
        and each.category != "analysis"
        and not has_asset(each)
    }
    assert formulas, "the server lists no formulas"
    # Their drawings depend on the faces of earlier frames; the Swift tests have their oracles.
    scenes = {"faceBlur", "facePixellate"}
    assert formulas - known - scenes == set(), "no oracle in sidelight_testing/oracle.py"
    assert known - {each.name for each in filters} == set(), "oracles of filters that are no more"


# The parameters without a formula here, which other tests vary.
UNVARIED = {
    "colorMatrix.aVector", "lowLight.denoise", "lowLight.smoothing", "whiteBalance.smoothing",
}


@pytest.mark.parametrize("name", oracle.FORMULAS)
def test_every_number_of_a_filter_is_varied(name):
    formula = oracle.FORMULAS[name]
    varied = {*inspect.signature(formula.make).parameters, *map(oracle.snake_case, formula.fixed)}
    numbers = {
        each["name"]
        for each in oracle.PARAMETERS[name]
        if each["kind"].endswith(("NUMBER", "LENGTH", "VECTOR"))
    }
    left_out = {f"{name}.{each}" for each in numbers if oracle.snake_case(each) not in varied}
    assert left_out - UNVARIED == set(), "no argument of the formula, and not fixed"


@pytest.mark.parametrize("name", oracle.FORMULAS)
def test_a_setting_of_every_formula_has_an_effect(name):
    def has_effect(wanted) -> bool:
        colors = images.rgb(under(wanted.light, opaque("RGB24"))).astype(np.float64)
        result = wanted.color(colors) if wanted.color else wanted.plane(colors, 1)
        return result.shape != colors.shape or formulas.difference(result, colors) > wanted.tolerance

    assert any(has_effect(each) for each in oracle.ORACLES if each.filter == name)


def opaque(name: str):
    image = images.noise(name, WIDTH, HEIGHT)
    image.color.alpha = messages.ALPHA_MODE_OPAQUE
    return image


def under(light, image):
    """The image in a light; every other oracle returns it unchanged."""
    return image if light == (1, 1, 1) else images.lit(image, light)


@pytest.mark.parametrize("name", ["BGRA8", "RGB24"])
@pytest.mark.parametrize("wanted", oracle.ORACLES, ids=str)
def test_rgb(stub, wanted, name):
    image = under(wanted.light, opaque(name))
    result = apply(stub, image, (wanted.filter, wanted.parameters))
    colors = images.rgb(image).astype(np.float64)
    expected = (wanted.color or wanted.plane)(colors)
    assert images.rgb(result).shape == expected.shape
    difference = formulas.difference(images.rgb(result), expected, wanted.jumps)
    assert difference <= wanted.tolerance


@pytest.mark.parametrize("color_range, matrix", [("VIDEO", "BT601"), ("FULL", "BT709")])
@pytest.mark.parametrize("name", ["I420", "NV12"])
@pytest.mark.parametrize("wanted", oracle.ORACLES, ids=str)
def test_video(stub, wanted, name, color_range, matrix):
    image = images.noise(name, WIDTH, HEIGHT)
    image.color.matrix = messages.ColorMatrix.Value(f"COLOR_MATRIX_{matrix}")
    image.color.range = messages.ColorRange.Value(f"COLOR_RANGE_{color_range}")
    image = under(wanted.light, image)
    result = apply(stub, image, (wanted.filter, wanted.parameters))
    planes = images.yuv(image)
    if wanted.color:
        # Pictures between the passes of a filter have the chroma of the format.
        expected = planes
        for color in getattr(wanted.color, "passes", [wanted.color]):
            expected = formulas.through_rgb(*expected, color, matrix, color_range == "FULL")
    elif wanted.filter in SUMS_OVER_PIXELS:
        expected = formulas.over_shared_chroma(*planes, wanted.plane)
    else:
        expected = [
            wanted.plane(plane[..., None].astype(np.float64), scale)[..., 0]
            for plane, scale in zip(planes, [1, 0.5, 0.5], strict=True)
        ]
    for actual, plane in zip(images.yuv(result), expected, strict=True):
        assert actual.shape == plane.shape
        assert formulas.difference(actual, plane, wanted.jumps) <= wanted.tolerance


@pytest.mark.parametrize("name", images.RAW_FORMATS)
@pytest.mark.parametrize("preset", oracle.PRESETS)
def test_a_preset_is_the_chain_that_it_is_documented_as(stub, preset, name):
    image = images.noise(name, WIDTH, HEIGHT)
    result = images.samples(apply(stub, image, preset))
    chain = images.samples(apply(stub, image, *oracle.PRESETS[preset]))
    assert all(map(np.array_equal, result, chain))


# Geometry takes the byte along with its pixel.
MOVING = {"crop", "orient", "scale", "affineTransform"}
STAYING = [each for each in oracle.ORACLES if each.filter not in MOVING]


@pytest.mark.parametrize("wanted", STAYING, ids=str)
def test_the_fourth_byte_of_an_opaque_frame_is_never_touched(stub, wanted):
    image = opaque("BGRA8")
    result = apply(stub, image, (wanted.filter, wanted.parameters))
    assert np.array_equal(images.alpha(result), images.alpha(image))


def test_black_and_white_of_video_range_are_preserved(stub):
    for level in (16, 235):
        planes = [
            np.full((rows, row_bytes), level if index == 0 else 128, dtype=np.uint8)
            for index, (row_bytes, rows) in enumerate(images.plane_shapes("I420", WIDTH, HEIGHT))
        ]
        image = images.make_image("I420", WIDTH, HEIGHT, planes)
        image.color.range = messages.COLOR_RANGE_VIDEO
        for name, numbers in [("grayscale", {}), ("hueAdjust", {"angle": 2}), ("median", {})]:
            result = images.samples(apply(stub, image, (name, numbers)))
            assert all(map(np.array_equal, result, planes)), (name, level)
