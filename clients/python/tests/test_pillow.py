"""Conversions between images and pictures of Pillow."""

import io

import pytest

pytest.importorskip("PIL")

from PIL import Image as Pillow
from support.pictures import SIZES, noise, padded_image, random_image

import sidelight.pillow
from sidelight.errors import InvalidArgument
from sidelight.images import AlphaMode, Color, Orientation

MODES = {"RGB": 3, "RGBA": 4, "RGBX": 4, "L": 1}


@pytest.mark.parametrize("width, height", SIZES)
@pytest.mark.parametrize("mode", MODES)
def test_pictures_survive(mode, width, height):
    picture = Pillow.frombytes(mode, (width, height), noise(width * height * MODES[mode]))
    image = sidelight.pillow.image(picture)
    again = sidelight.pillow.picture(image)
    assert (again.mode, again.size, again.tobytes()) == (mode, picture.size, picture.tobytes())


@pytest.mark.parametrize("width, height", SIZES)
@pytest.mark.parametrize("make", [random_image, padded_image])
@pytest.mark.parametrize("format", ["rgb", "rgba", "gray"])
def test_images_survive(make, format, width, height):
    image = make(format, width, height)
    assert sidelight.pillow.image(sidelight.pillow.picture(image)).bytes() == image.bytes()


@pytest.mark.parametrize(
    "alpha, mode", [(None, "RGBA"), ("straight", "RGBA"), ("opaque", "RGBX"), ("premultiplied", "RGBa")]
)
@pytest.mark.parametrize("format", ["bgra", "rgba"])
def test_the_mode_tells_the_meaning_of_alpha(format, alpha, mode):
    image = random_image(format, 7, 5, color=Color(alpha=alpha))
    picture = sidelight.pillow.picture(image)
    samples = [image.bytes()[start::4] for start in range(4)]
    expected = [samples[2], samples[1], samples[0], samples[3]] if format == "bgra" else samples
    assert picture.mode == mode
    assert [picture.tobytes()[start::4] for start in range(4)] == expected


def test_inexact_modes_are_refused():
    for mode in ("P", "1", "CMYK", "YCbCr", "I;16", "F", "LA", "RGBa"):
        with pytest.raises(InvalidArgument, match="picture.mode is "):
            sidelight.pillow.image(Pillow.new(mode, (4, 4)))
    with pytest.raises(InvalidArgument, match='output="rgb"'):
        sidelight.pillow.picture(random_image("i420", 4, 4))


def test_fillers_are_opaque():
    assert sidelight.pillow.image(Pillow.new("RGBX", (2, 2))).color.alpha is AlphaMode.OPAQUE


@pytest.mark.parametrize("number", range(1, 9))
def test_the_orientation_is_that_of_exif(number):
    from PIL import ImageOps

    stored = Pillow.frombytes("L", (3, 2), bytes(range(6)))
    exif = Pillow.Exif()
    exif[0x0112] = number
    file = io.BytesIO()
    stored.save(file, "png", exif=exif)
    picture = Pillow.open(file)
    orientation = sidelight.pillow.image(picture).orientation
    # Mirror first, then rotate clockwise.
    shown = stored.transpose(Pillow.Transpose.FLIP_LEFT_RIGHT) if orientation.mirrored else stored
    shown = shown.rotate(-orientation.rotation, expand=True)
    assert shown.tobytes() == ImageOps.exif_transpose(picture).tobytes()
    assert (orientation == Orientation()) == (number == 1)
