"""The frame numbers in the camera's pictures."""

import numpy as np
import pytest

from calltesting import barcode

NUMBERS = [0, 1, 0b1010_1010_1010_1010_1010, 12345, (1 << barcode.BITS) - 1]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("size", [(360, 640), (180, 320), (357, 641)])
def test_a_number_is_read_as_it_was_drawn_also_through_noise(number, size):
    luma = np.full(size, 128, np.uint8)
    barcode.draw(luma, number)
    assert barcode.read(luma) == number
    noise = np.random.default_rng(number).normal(0, 24, size)
    assert barcode.read(np.clip(luma + noise, 0, 255).astype(np.uint8)) == number


def test_a_number_that_was_covered_is_not_read_as_another_one():
    luma = np.full((360, 640), 128, np.uint8)
    barcode.draw(luma, 12345)
    luma[:54, 320:384] = 128
    assert barcode.read(luma) is None


def test_a_number_leaves_the_picture_below_the_strip_alone():
    luma = np.arange(360 * 640, dtype=np.uint32).astype(np.uint8).reshape(360, 640)
    before = luma.copy()
    barcode.draw(luma, 12345)
    assert (luma[54:] == before[54:]).all()


@pytest.mark.parametrize("number", [-1, 1 << barcode.BITS])
def test_a_number_with_more_bits_is_refused(number):
    with pytest.raises(ValueError, match="must be from 0 to 1048575"):
        barcode.draw(np.zeros((360, 640), np.uint8), number)
