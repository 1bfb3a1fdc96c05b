"""The scripts in dev/ recognize programs by their output, not by their file names."""

import os
import subprocess

import PIL.Image
import pytest

from sidelight_testing.contract import REPOSITORY

SHEET_BACKGROUND = (0x16, 0x18, 0x1D)


def path_with_other_programs(folder, *names: str) -> dict[str, str]:
    """An environment in which other programs have the given names."""
    for name in names:
        program = folder / name
        program.write_text("#!/bin/sh\necho another program\nexit 0\n")
        program.chmod(0o755)
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path, monkeypatch):
    """Programs leave files in the folder for temporary ones, such as SwiftPM."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def missing(environment, group: str) -> list[str]:
    """The packages that dev/setup would install."""
    found = subprocess.run(
        [REPOSITORY / "dev/setup", "--check", group],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )
    if found.returncode == 0:
        return []
    begin = "Missing Debian packages: "
    assert found.stderr.startswith(begin), found.stderr
    return found.stderr.removeprefix(begin).split()


@pytest.mark.parametrize(
    ("name", "group", "package"),
    [
        ("ffmpeg", "demo", "ffmpeg"),
        ("ffprobe", "demo", "ffmpeg"),
        ("fc-match", "demo", "fontconfig"),
        ("pkg-config", "build", "libpng-dev"),
        ("protoc", "protos", "protobuf-compiler"),
        ("protoc", "protos", "libprotobuf-dev"),
        ("codespell", "test", "codespell"),
    ],
)
def test_another_program_of_the_same_name_is_not_accepted(tmp_path, name, group, package):
    assert package not in missing(os.environ, "demo" if group == "protos" else group)
    assert package in missing(path_with_other_programs(tmp_path, name), group)


def test_the_demo_needs_no_program_of_the_tests(tmp_path):
    others = [
        "convert", "magick", "protoc", "promtool", "chromium", "codespell", "haproxy",
        "systemd-analyze",
    ]
    assert missing(path_with_other_programs(tmp_path, *others), "demo") == []


@pytest.fixture
def plain_videos(tmp_path):
    """Two seconds of red, and of blue."""
    videos = []
    for color in ("red", "blue"):
        videos.append(tmp_path / f"{color}.mp4")
        source = f"color={color}:size=160x90:rate=10:duration=2"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, videos[-1]],
            check=True, timeout=60,
        )
    return videos


def contact_sheet(folder, videos, captions) -> PIL.Image.Image:
    environment = path_with_other_programs(folder, "convert", "magick", "montage")
    sheet = folder / "sheet.png"
    subprocess.run(
        [REPOSITORY / "Tools/Pictures/contact-sheet", sheet, "2", *videos, "--", *captions],
        env=environment, check=True, timeout=120,
    )
    with PIL.Image.open(sheet) as picture:
        return picture.convert("RGB")


# A picture is 320 x 180 in a border of 2, a caption 64 high, and the margin is 6.


def test_the_contact_sheet_shows_both_videos_below_each_caption(tmp_path, plain_videos):
    captions = ["sepiaTone(intensity: 0.8), vignette(intensity: 1)", "50% 'of' it: a\\b"]
    picture = contact_sheet(tmp_path, plain_videos, captions)
    assert picture.size == (2 * 324 + 12, 64 + 2 * 184 + 12)
    for column in range(2):
        left = 6 + 324 * column
        caption = picture.crop((left, 6, left + 324, 70))
        assert caption.getpixel((0, 0)) == SHEET_BACKGROUND
        assert caption.getextrema()[0][1] > 200, "the caption has no text"
        red, blue = (picture.getpixel((left + 162, 70 + 92 + 184 * row)) for row in range(2))
        assert red[0] > 200 and red[2] < 60, red
        assert blue[2] > 200 and blue[0] < 60, blue


def test_a_contact_sheet_of_many_columns_has_several_bands(tmp_path, plain_videos):
    captions = [f"number {index}" for index in range(7)]
    picture = contact_sheet(tmp_path, [*plain_videos, plain_videos[0]], captions)
    band = 64 + 3 * 184
    assert picture.size == (4 * 324 + 12, 2 * band + 12)
    for row in range(2):
        for video, channel in enumerate([0, 2, 0]):
            middle = picture.getpixel((6 + 162, 6 + row * band + 64 + 92 + 184 * video))
            assert middle[channel] > 200 and middle[2 - channel] < 60
    # The last band has three columns.
    assert picture.getpixel((6 + 3 * 324 + 162, 6 + band + 64 + 92)) == SHEET_BACKGROUND
