"""The filter processes in Go and C++, which know the contract alone."""

import numpy as np
import PIL.Image

from sidelight_testing.command import sidelight
from sidelight_testing.contract import REPOSITORY

PORTRAIT = REPOSITORY / "Examples/media/portrait.jpg"


def apply(folder, program, text: str) -> tuple[np.ndarray, np.ndarray]:
    """The portrait before and after a pipeline."""
    sidelight(
        "apply", PORTRAIT, folder / "out.png", "--filter-process", program, "--pipeline", text
    )
    before, after = (PIL.Image.open(path) for path in (PORTRAIT, folder / "out.png"))
    return np.asarray(before.convert("RGB")).astype(int), np.asarray(after.convert("RGB"))


def test_go_mirrors_a_picture(go_programs, tmp_path):
    before, after = apply(tmp_path, go_programs / "filters", "goMirror")
    # Two libraries decode the portrait.
    assert np.abs(before[:, ::-1] - after).mean() < 2


def test_cpp_turns_a_picture_into_black_and_white(cpp_programs, tmp_path):
    before, after = apply(tmp_path, cpp_programs / "filter_process", "cppThreshold(level: 0.4)")
    assert set(np.unique(after)) == {0, 255}
    luma = before @ [0.2126, 0.7152, 0.0722]
    is_clear = np.abs(luma - 255 * 0.4) > 8
    assert np.array_equal((after[..., 0] == 255)[is_clear], (luma > 255 * 0.4)[is_clear])
