"""Analyses of the picture: codes that another library drew, histograms and motion."""

import numpy as np
import pytest
import segno

from sidelight_testing import images
from sidelight_testing.session import Session, pipeline

WIDTH, HEIGHT = 320, 180


def gray(value: int) -> np.ndarray:
    return np.full((HEIGHT, WIDTH, 3), value, dtype=np.uint8)


def code(text: str, x: int, y: int, scale: int = 4) -> np.ndarray:
    """A grey picture with a QR code whose top left corner is at (x, y)."""
    modules = np.array(segno.make_qr(text, error="m").matrix, dtype=np.uint8)
    square = np.where(np.kron(modules, np.ones((scale, scale), dtype=np.uint8)), 20, 220)
    picture = gray(220)
    picture[y : y + len(square), x : x + len(square)] = square[..., None]
    return picture


def analyses(stub, filter_call, pictures: list[np.ndarray]) -> list:
    """The analyses of the pictures, one at a time."""
    with Session(stub, pipeline=pipeline(filter_call), analysis_only=True) as session:
        found = []
        for picture in pictures:
            session.send_frame(images.rgb_image(picture))
            found.append(session.receive_until("analysis"))
        session.finish()
    return found


@pytest.mark.parametrize("text", ["https://example.org/room/42", "Grüße, 世界"])
def test_a_code_is_read_where_it_is(stub, text):
    x, y = 120, 40
    [found] = analyses(stub, ("barcode", {"everyNth": 1}), [code(text, x, y)])
    assert found.words["text0"] == text and found.words["kind0"] == "QR-Code"
    [box] = found.detections
    side = 4 * len(segno.make_qr(text, error="m").matrix)
    assert box.kind == "code"
    assert abs(box.x - x) <= 4 and abs(box.y - y) <= 4
    assert abs(box.width - side) <= 8 and abs(box.height - side) <= 8
    assert len(found.rows["corners0"].values) == 8


def test_a_frame_without_a_code_has_none(stub):
    [found] = analyses(stub, ("barcode", {"everyNth": 1}), [gray(90)])
    assert found.figures["codes"] == 0 and not found.detections and not found.words


def test_a_histogram_is_numpys(stub):
    random = np.random.default_rng(1)
    picture = random.integers(1, 255, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    picture[: HEIGHT // 2, :, 0] = 0
    [found] = analyses(stub, ("histogram", {"everyNth": 1, "bins": 37}), [picture])
    for channel, name in enumerate(["red", "green", "blue"]):
        counts, _ = np.histogram(picture[..., channel] / 255, bins=37, range=(0, 1))
        assert np.allclose(found.rows[name].values, counts / picture[..., 0].size)
    assert sum(found.rows["luma"].values) == pytest.approx(1)
    assert found.figures["clippedLow"] == 0.5 and found.figures["clippedHigh"] == 0


def test_motion_is_where_the_picture_changes(stub):
    moved = gray(100)
    moved[60:80, 200:240] = 180
    found = analyses(
        stub, ("motion", {"everyNth": 1}), [gray(100), moved, moved]
    )
    assert not found[0].figures
    [region] = found[1].detections
    assert (region.x, region.y, region.width, region.height) == (200, 60, 40, 20)
    assert found[1].figures["moving"] == pytest.approx(2 / 144)
    assert found[2].figures["moving"] == 0 and not found[2].detections
