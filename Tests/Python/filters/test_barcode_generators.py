"""The filters that draw codes, read back by another library."""

import grpc
import numpy as np
import pytest
import zxingcpp

from sidelight_testing import images
from sidelight_testing.contract import frame_filter
from sidelight_testing.session import pipeline

WIDTH, HEIGHT = 480, 240
GRAY = np.full((HEIGHT, WIDTH, 3), 90, dtype=np.uint8)
TEXT = "https://example.org/room/42"
#: The filters by the names that the reader gives their codes.
CODES = {
    "QRCode": "qRCodeGenerator",
    "Aztec": "aztecCodeGenerator",
    "Code128": "code128BarcodeGenerator",
    "PDF417": "pDF417BarcodeGenerator",
}
SETTINGS = [
    *((code, {}) for code in CODES),
    *(("QRCode", {"correctionLevel": level}) for level in "LQH"),
    ("Aztec", {"correctionLevel": 50}),
    ("PDF417", {"correctionLevel": 5, "dataColumns": 4}),
    ("PDF417", {"compactStyle": True}),
]


def apply(stub, image, *wanted):
    request = frame_filter.ApplyRequest(image=image, pipeline=pipeline(*wanted))
    return stub.Apply(request, timeout=60).image


def read(image):
    return zxingcpp.read_barcodes(np.ascontiguousarray(images.rgb(image)))


@pytest.mark.parametrize("code, settings", SETTINGS, ids=str)
def test_another_library_reads_the_code(stub, code, settings):
    result = apply(stub, images.rgb_image(GRAY), (CODES[code], {"message": TEXT, **settings}))
    [found] = read(result)
    assert found.text == TEXT
    assert found.format.name == code


@pytest.mark.parametrize("text", ["Grüße, 世界", "x" * 1000])
def test_a_code_holds_any_text(stub, text):
    large = np.full((720, 720, 3), 90, dtype=np.uint8)
    settings = {"message": text, "correctionLevel": "L"}
    result = apply(stub, images.rgb_image(large), ("qRCodeGenerator", settings))
    [found] = read(result)
    assert found.text == text


@pytest.mark.parametrize("name", images.RAW_FORMATS)
def test_a_code_has_whole_squares_at_its_place(stub, name):
    # A QR code of version 1: 21 modules, and a quiet zone of two on both sides.
    settings = {"message": "42", "width": 110.0, "center": [200, 100], "quietSpace": 2}
    image = images.make_image(
        name, WIDTH, HEIGHT,
        [np.full((rows, row_bytes), 128, dtype=np.uint8)
         for row_bytes, rows in images.plane_shapes(name, WIDTH, HEIGHT)],
    )
    before = images.samples(image)[0]
    result = apply(stub, image, ("qRCodeGenerator", settings))
    plane = images.samples(result)[0].reshape(HEIGHT, WIDTH, -1)[..., 0].astype(int)
    # The largest whole squares of 25 in 110 pixels have 4 pixels.
    left, top, side = 150, 50, 100
    inside = plane[top : top + side, left : left + side]
    dark, light = inside.min(), inside.max()
    modules = inside[2::4, 2::4]
    assert set(np.unique(modules)) == {dark, light} and light - dark > 200
    assert np.array_equal(inside, np.kron(modules, np.ones((4, 4), dtype=int)))
    assert (modules[2:9, 2] == dark).all() and (modules[:2] == light).all()
    outside = plane.copy()
    outside[top : top + side, left : left + side] = 128
    assert np.array_equal(outside, before.reshape(HEIGHT, WIDTH, -1)[..., 0])


@pytest.mark.parametrize(
    "name, settings, words",
    [
        ("qRCodeGenerator", {"message": ""}, "message is empty"),
        ("code128BarcodeGenerator", {"message": "Grüße"}, "Code 128 holds ASCII only"),
        ("code128BarcodeGenerator", {"message": "x" * 300}, "of 300 bytes does not fit the code"),
        (
            "pDF417BarcodeGenerator", {"message": "x" * 1000, "correctionLevel": 8},
            "of 1000 bytes does not fit the code",
        ),
    ],
)
def test_a_text_that_the_code_cannot_hold_is_refused(stub, name, settings, words):
    with pytest.raises(grpc.RpcError) as refusal:
        apply(stub, images.rgb_image(GRAY), (name, settings))
    assert refusal.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert words in refusal.value.details()
