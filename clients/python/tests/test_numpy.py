"""Conversions between images and numpy arrays."""

import pytest

np = pytest.importorskip("numpy")

from support.pictures import RAW_FORMATS, SIZES, noise, padded_image, random_image

import sidelight.numpy
from sidelight.errors import InvalidArgument
from sidelight.images import Color, Image, Orientation

INTERLEAVED = {"bgra": 4, "rgba": 4, "rgb": 3, "gray": 1}


@pytest.mark.parametrize("width, height", SIZES)
@pytest.mark.parametrize("format", RAW_FORMATS)
@pytest.mark.parametrize("make", [random_image, padded_image])
def test_planes_and_back(make, format, width, height):
    image = make(format, width, height)
    planes = sidelight.numpy.planes(image)
    assert planes[0].shape[:2] == (height, width)
    assert b"".join(plane.tobytes() for plane in planes) == image.bytes()
    options = {"color": Color("full", "bt709"), "orientation": Orientation(90)}
    again = sidelight.numpy.image_of_planes(planes, format, **options)
    assert again.bytes() == image.bytes() and again.layout.is_packed
    assert (again.color, again.orientation) == (options["color"], options["orientation"])


@pytest.mark.parametrize("width, height", SIZES)
@pytest.mark.parametrize("format", INTERLEAVED)
@pytest.mark.parametrize("make", [random_image, padded_image])
def test_arrays_are_views_in_both_directions(make, format, width, height):
    image = make(format, width, height)
    array = sidelight.numpy.array(image)
    assert array.tobytes() == image.bytes()
    again = sidelight.numpy.image(array, format)
    assert again.bytes() == image.bytes()
    pixels = np.frombuffer(again.data, np.uint8)
    assert np.shares_memory(pixels, np.frombuffer(image.data, np.uint8))


@pytest.mark.parametrize("format", INTERLEAVED)
def test_any_strides_give_the_same_pixels(format):
    shape = (9, 14, INTERLEAVED[format])
    whole = np.frombuffer(noise(9 * 14 * shape[2]), np.uint8).reshape(shape)
    views = [
        whole[:, 3:9],
        whole[::-1],
        whole[:, ::-1],
        whole[::2, ::3],
        whole[2:3],
        whole[:, 5:6],
        whole.transpose(1, 0, 2),
        whole[:1, :1],
    ]
    if shape[2] > 1:
        views.append(whole[:, :, ::-1])
    for view in views:
        image = sidelight.numpy.image(view, format)
        assert (image.height, image.width) == view.shape[:2]
        assert image.bytes() == view.tobytes()


def test_rows_of_a_larger_array_are_not_copied():
    whole = np.zeros((8, 8, 4), np.uint8)
    image = sidelight.numpy.image(whole[2:5, 3:7], "bgra")
    whole[2, 3] = 7
    assert image.bytes()[:5] == b"\7\7\7\7\0"


def test_planes_write_into_the_image():
    image = Image.allocate("nv12", 4, 2)
    luma, chroma = sidelight.numpy.planes(image)
    luma[1], chroma[0, 1] = 5, (8, 9)
    assert image.bytes() == bytes([0] * 4 + [5] * 4 + [0, 0, 8, 9])
    with pytest.raises(ValueError):
        sidelight.numpy.planes(random_image("gray", 2, 2))[0][0] = 1


@pytest.mark.parametrize(
    "array, format, message",
    [
        (np.zeros((2, 2, 4), np.float32), "bgra", "array is 'float32'; it must be an array of"),
        (np.zeros((2, 2, 4), np.uint8), "rgb", "array.shape is (2, 2, 4); it must be (height,"),
        (np.zeros((2, 2), np.uint8), "rgb", "array.shape is (2, 2)"),
        (np.zeros((0, 2), np.uint8), "gray", "array.shape is (0, 2)"),
        (np.zeros((3, 2), np.uint8), "i420", "format is 'i420'; it must be bgra, rgba, rgb or"),
        ([[1, 2]], "gray", "array is 'list'"),
    ],
)
def test_other_arrays_are_refused(array, format, message):
    with pytest.raises(InvalidArgument) as raised:
        sidelight.numpy.image(array, format)
    assert message in str(raised.value)


def test_planes_of_wrong_shapes_are_refused():
    planes = sidelight.numpy.planes(random_image("i420", 5, 5))
    with pytest.raises(InvalidArgument, match=r"planes\[1\].shape is \(2, 2\); it must be \(3, 3\)"):
        sidelight.numpy.image_of_planes([planes[0], planes[1][:2, :2], planes[2]], "i420")
    with pytest.raises(InvalidArgument, match="planes is '2 arrays'"):
        sidelight.numpy.image_of_planes(planes[:2], "i420")
    with pytest.raises(InvalidArgument, match="image.format is 'i420'"):
        sidelight.numpy.array(random_image("i420", 5, 5))
