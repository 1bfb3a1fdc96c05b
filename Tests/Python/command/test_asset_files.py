"""Pictures and colour tables that `sidelight apply` reads from files."""

import numpy as np
import PIL.Image
import pytest

from sidelight_testing import formulas
from sidelight_testing.command import sidelight

# A table of two entries that turns every colour into its negative.
NEGATIVE = """TITLE "Negative"
# three curves
LUT_1D_SIZE 2
1 1 1
0 0 0
"""

# A cube that exchanges red and blue; red runs fastest.
SWAPPED = "LUT_3D_SIZE 2\n" + "".join(
    f"{blue} {green} {red}\n" for blue in (0, 1) for green in (0, 1) for red in (0, 1)
)


@pytest.fixture
def folder(tmp_path):
    """A folder with a picture, two tables, and images to composite with it."""
    colors = np.random.default_rng(9).integers(0, 256, (36, 52, 3), dtype=np.uint8)
    PIL.Image.fromarray(colors).save(tmp_path / "in.png")
    (tmp_path / "looks").mkdir()
    (tmp_path / "looks/negative.cube").write_text(NEGATIVE)
    (tmp_path / "looks/swapped.cube").write_text(SWAPPED.replace("\n", "\r\n"))
    sticker = np.zeros((36, 52, 4), dtype=np.uint8)
    sticker[:, 26:] = (10, 200, 30, 255)
    PIL.Image.fromarray(sticker).save(tmp_path / "sticker.png")
    flat = np.full((36, 52, 3), 128, dtype=np.uint8)
    PIL.Image.fromarray(flat).save(tmp_path / "gray.jpg", quality=100)
    mask = np.zeros((36, 52), dtype=np.uint8)
    mask[:18] = 255
    PIL.Image.fromarray(mask).save(tmp_path / "mask.png")
    return tmp_path


def source(folder) -> np.ndarray:
    return np.asarray(PIL.Image.open(folder / "in.png")).astype(np.float64)


def applied(folder, pipeline: str, *options: object) -> np.ndarray:
    """Returns the picture that the command writes, run in the folder."""
    sidelight("apply", "in.png", "out.png", "--pipeline", pipeline, *options, cwd=folder)
    return np.asarray(PIL.Image.open(folder / "out.png"))


def complaint(folder, pipeline: str, *options: object) -> str:
    finished = sidelight(
        *("apply", "in.png", "out.png", "--pipeline", pipeline, *options), cwd=folder, fails=True
    )
    assert not (folder / "out.png").exists()
    return finished.stderr.decode()


def test_a_table_is_read_by_its_path_from_the_working_directory(folder):
    result = applied(folder, 'colorCube(asset: "looks/negative.cube")')
    assert formulas.difference(result, 255 - source(folder)) <= 1
    result = applied(folder, 'colorCube(asset: "looks/swapped.cube")')
    assert formulas.difference(result, source(folder)[..., ::-1]) <= 1


def test_an_absolute_path_and_core_image_names_are_accepted(folder):
    result = applied(folder, f'CIColorCube(inputAsset: "{folder}/looks/negative.cube")')
    assert formulas.difference(result, 255 - source(folder)) <= 1


def test_an_asset_has_the_given_name(folder):
    result = applied(folder, "colorCube(asset: look)", "--asset", "look=looks/negative.cube")
    assert formulas.difference(result, 255 - source(folder)) <= 1


def test_a_given_name_takes_precedence_over_a_path(folder):
    (folder / "look").write_text(SWAPPED)
    result = applied(folder, "colorCube(asset: look)", "--asset", "look=looks/negative.cube")
    assert formulas.difference(result, 255 - source(folder)) <= 1


def test_images_are_composited_and_used_as_masks(folder):
    result = applied(folder, 'overlay(asset: "sticker.png", fit: stretch)')
    assert np.array_equal(result[:, :26], source(folder)[:, :26])
    assert np.all(result[:, 26:] == (10, 200, 30))
    result = applied(folder, 'multiplyCompositing(backgroundImage: "gray.jpg")')
    assert formulas.difference(result, source(folder) * 128 / 255) <= 1
    result = applied(
        folder,
        "colorInvert, blendWithMask(maskImage: m, backgroundImage: b), colorInvert",
        *("--asset", "m=mask.png", "--asset", "b=gray.jpg"),
    )
    assert formulas.difference(result[:18], source(folder)[:18]) <= 1
    assert np.abs(result[18:].astype(int) - 127).max() <= 1


def test_assets_are_found_in_nested_pipelines_and_several_stages(folder):
    cube = 'colorCube(asset: "looks/negative.cube")'
    result = applied(folder, f"[grayscale, [{cube}]], {cube}")
    assert formulas.difference(result, formulas.grayscale(source(folder))) <= 1


def test_the_source_frame_is_not_a_file(folder):
    pipeline = "colorInvert, multiplyCompositing(backgroundImage: source)"
    expected = source(folder) * (255 - source(folder)) / 255
    assert formulas.difference(applied(folder, pipeline), expected) <= 1


def test_a_filter_that_does_not_read_the_source_frame_refuses_its_name(folder):
    assert "does not accept" in complaint(folder, "overlay(asset: source)")


def test_check_reads_the_same_files(folder):
    words = sidelight(
        *("check", "--pipeline", 'colorCube(asset: "looks/negative.cube")'), cwd=folder
    ).stdout.decode()
    assert "colorCube" in words


BROKEN_FILES = {
    "none.cube": (None, ["No such file"]),
    "words.txt": ("These are words.\n", ["not a PNG, JPEG or .cube"]),
    "short.cube": ("LUT_1D_SIZE 3\n0 0 0\n1 1 1\n", ["2 entries", "requires 3"]),
    "word.cube": ("# look\nLUT_1D_SIZE 2\n0 0 0\n1 one 1\n", ["line 4", "one"]),
    "long.cube": ("LUT_3D_SIZE 500\n", ["line 1", "500", "129"]),
    "cut.png": (b"\x89PNG\r\n\x1a\n\0\0\0", ["cut.png"]),
    "looks": (None, ["directory"]),
}


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_a_file_error_has_its_position_in_the_text(folder, name):
    content, words = BROKEN_FILES[name]
    if content is not None:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    text = f'grayscale, colorCube(asset: "{name}")'
    said = complaint(folder, text)
    lines = said.splitlines()
    assert lines[lines.index(text) + 1] == " " * text.index('"') + "^"
    assert all(word in said for word in [name, *words]), said


def test_an_error_of_a_named_file_contains_the_name(folder):
    said = complaint(folder, "grayscale", "--asset", "look=looks/none.cube")
    assert "look" in said and "looks/none.cube" in said and "No such file" in said


def test_images_and_tables_are_not_interchangeable(folder):
    assert "an image, not a colour cube" in complaint(folder, 'colorCube(asset: "mask.png")')
    assert "not an image" in complaint(folder, 'overlay(asset: "looks/negative.cube")')


@pytest.mark.parametrize("text", ["look", "look=", "=looks/negative.cube"])
def test_an_asset_without_name_or_path_is_refused(folder, text):
    assert "NAME=PATH" in complaint(folder, "grayscale", "--asset", text)


def test_the_command_explains_that_a_server_cannot_read_local_files(server, folder):
    at = ("--server", server.addresses["tcp"])
    said = complaint(folder, 'overlay(asset: "sticker.png")', *at)
    assert "sticker.png" in said and "apply' without --server" in said
    assert "--asset" in complaint(folder, "grayscale", "--asset", "s=sticker.png", *at)
    video = b"YUV4MPEG2 W2 H2 F25:1 Ip A1:1 C420jpeg\nFRAME\n" + bytes(6)
    for pipelines in (
        ["--pipeline", 'overlay(asset: "sticker.png")'],
        ["--pipeline-at", '0=overlay(asset: "sticker.png")'],
    ):
        finished = sidelight(
            *("stream", "-", "-", *at, *pipelines), video=video, cwd=folder, fails=True
        )
        said = finished.stderr.decode()
        assert "sticker.png" in said and "apply' without --server" in said


GAIN = """kernel gain "Multiplies colour."
param gain: 0.5 in 0..2
return color.rgb * gain
"""


def test_a_kernel_is_read_from_a_file_and_has_its_own_parameters(folder):
    (folder / "looks/gain.kernel").write_text(GAIN)
    half = applied(folder, 'kernel(asset: "looks/gain.kernel")')
    assert np.abs(half - source(folder) / 2).max() <= 1
    named = applied(folder, "kernel(asset: gain, gain: 1)", "--asset", "gain=looks/gain.kernel")
    assert np.array_equal(named, source(folder))


def test_an_invalid_kernel_is_refused_at_its_character(folder):
    (folder / "bad.kernel").write_text("kernel bad\nreturn lumma(color)")
    for file in folder.glob("out.png"):
        file.unlink()
    assert "line 2, column 8: there is no function named 'lumma'; did you mean luma?" in complaint(
        folder, 'kernel(asset: "bad.kernel")'
    )
    message = complaint(folder, 'kernel(source: "lumma(color)")')
    assert "column 17" in message and "did you mean luma?" in message
