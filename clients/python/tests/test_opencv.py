"""Conversions between images and the arrays of OpenCV."""

import pytest

np = pytest.importorskip("numpy")

from support.pictures import SIZES, noise, padded_image, random_image

import sidelight.opencv
from sidelight.errors import InvalidArgument
from sidelight.images import Color, PixelFormat


@pytest.mark.parametrize("width, height", SIZES)
@pytest.mark.parametrize("make", [random_image, padded_image])
@pytest.mark.parametrize("format", ["bgra", "gray", "rgb"])
def test_images_survive(make, format, width, height):
    image = make(format, width, height)
    array = sidelight.opencv.array(image)
    again = sidelight.opencv.image(array, "bgr" if format == "rgb" else format)
    assert again.format is PixelFormat.of(format) and again.bytes() == image.bytes()


@pytest.mark.parametrize("width, height", SIZES)
def test_channels_are_blue_green_red(width, height):
    array = np.frombuffer(noise(width * height * 3), np.uint8).reshape(height, width, 3)
    image = sidelight.opencv.image(array)
    assert image.format is PixelFormat.RGB
    assert image.bytes() == array[:, :, [2, 1, 0]].tobytes()
    rgba = random_image("rgba", width, height)
    pixels = np.frombuffer(rgba.bytes(), np.uint8).reshape(height, width, 4)
    assert sidelight.opencv.array(rgba).tobytes() == pixels[:, :, [2, 1, 0, 3]].tobytes()


@pytest.mark.parametrize("make", [random_image, padded_image])
@pytest.mark.parametrize("format", ["i420", "nv12"])
def test_yuv_of_even_sizes_survives(make, format):
    image = make(format, 6, 10)
    array = sidelight.opencv.array(image)
    assert array.shape == (15, 6)
    again = sidelight.opencv.image(array, format, color=Color("full"))
    assert again.bytes() == image.bytes() and again.color == Color("full")


@pytest.mark.parametrize("format", ["i420", "nv12"])
def test_yuv_of_odd_sizes_is_refused(format):
    for width, height in [(5, 4), (4, 5)]:
        with pytest.raises(InvalidArgument, match="of an even size"):
            sidelight.opencv.array(random_image(format, width, height))
    with pytest.raises(InvalidArgument, match="even width"):
        sidelight.opencv.image(np.zeros((6, 3), np.uint8), format)


def test_the_layout_is_that_of_opencv():
    cv2 = pytest.importorskip("cv2")
    bgr = np.frombuffer(noise(8 * 6 * 3), np.uint8).reshape(6, 8, 3)
    i420 = cv2.cvtColor(bgr, cv2.COLOR_BGR2YUV_I420)
    image = sidelight.opencv.image(i420, "i420")
    back = cv2.cvtColor(sidelight.opencv.array(image), cv2.COLOR_YUV2BGR_I420)
    assert (back == cv2.cvtColor(i420, cv2.COLOR_YUV2BGR_I420)).all()
    assert image.plane(0).tobytes() == i420[:6].tobytes()
