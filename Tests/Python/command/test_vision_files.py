"""Faces and backgrounds of a still picture, by `sidelight apply`."""

import numpy as np
import PIL.Image
import pytest

from sidelight_testing import portraits
from sidelight_testing.command import sidelight
from sidelight_testing.contract import REPOSITORY

MEDIA = REPOSITORY / "Examples/media"
# The side of the square around the face, and the eyes' middle in it by the formula of overlay.
SIDE = portraits.SCALE * portraits.SIDE
EYES = portraits.CENTER + SIDE * (np.array([0.49, 0.37]) - 0.5)


@pytest.fixture
def folder(tmp_path):
    """A folder with a picture of a person."""
    PIL.Image.fromarray(portraits.textured_scene()).save(tmp_path / "in.png")
    return tmp_path


def source(folder) -> np.ndarray:
    return np.asarray(PIL.Image.open(folder / "in.png"))


def applied(folder, pipeline: str, *options: object) -> np.ndarray:
    """The picture that the command writes, run in the folder."""
    sidelight("apply", "in.png", "out.png", "--pipeline", pipeline, *options, cwd=folder)
    return np.asarray(PIL.Image.open(folder / "out.png"))


def changed_box(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The top left and the bottom right corner of the pixels that differ, as x and y."""
    rows, columns = np.nonzero((before != after).any(axis=-1))
    assert rows.size, "the picture is unchanged"
    return np.array([columns.min(), rows.min()]), np.array([columns.max() + 1, rows.max() + 1])


def test_a_sticker_changes_the_picture_near_the_eyes_only(vision, folder):
    asset = ("--asset", f"glasses={MEDIA / 'glasses.png'}")
    result = applied(folder, "overlay(asset: glasses, anchor: eyes)", *asset)
    first, last = changed_box(source(folder), result)
    assert np.abs((first + last) / 2 - EYES).max() < 0.15 * SIDE
    # The image is as wide as the face, and has 400 x 148 pixels.
    width, height = last - first
    assert 0.8 < width / SIDE < 1.2
    assert 0.8 < height / (SIDE * 148 / 400) < 1.5


def test_a_sticker_is_read_by_its_path(vision, folder):
    asset = ("--asset", f"hat={MEDIA / 'hat.png'}")
    sticker = "overlay(asset: {}, anchor: forehead)"
    named = applied(folder, sticker.format("hat"), *asset)
    path = applied(folder, sticker.format(f'"{MEDIA / "hat.png"}"'))
    assert np.array_equal(named, path)
    # Its brim lies on the forehead.
    assert changed_box(source(folder), named)[1][1] < EYES[1] + 0.1 * SIDE


def test_a_picture_without_a_face_has_no_sticker(vision, folder):
    gray = np.full((180, 320, 3), 120, dtype=np.uint8)
    PIL.Image.fromarray(gray).save(folder / "in.png")
    asset = ("--asset", f"glasses={MEDIA / 'glasses.png'}")
    result = applied(folder, "overlay(asset: glasses, anchor: eyes)", *asset)
    assert np.array_equal(result, gray)


@pytest.mark.parametrize("name", ["faceBlur", "facePixellate"])
def test_a_face_is_hidden_and_the_corners_are_unchanged(vision, folder, name):
    before, after = source(folder), applied(folder, name)
    assert np.array_equal(portraits.corners_of(after), portraits.corners_of(before))
    # The mosaic keeps the edges of its cells.
    face, original = portraits.face_of(after), portraits.face_of(before)
    if name == "faceBlur":
        assert portraits.is_hidden(face, original)
    else:
        assert np.abs(face.astype(int) - original).mean() > 8
    first, last = changed_box(before, after)
    center = portraits.CENTER
    assert (first < center - 0.45 * SIDE).all() and (last > center + 0.45 * SIDE).all()
    assert (first > center - 1.2 * SIDE).all() and (last < center + 1.2 * SIDE).all()


def test_a_picture_without_a_face_is_hidden_as_a_whole(vision, folder):
    texture = np.random.default_rng(5).integers(90, 130, (180, 320, 3), dtype=np.uint8)
    PIL.Image.fromarray(texture).save(folder / "in.png")
    assert portraits.is_hidden(applied(folder, "faceBlur"), texture)


def test_the_background_behind_a_person_is_blurred(vision, folder):
    before, after = source(folder), applied(folder, "backgroundBlur(matte: portrait)")
    corners = portraits.corners_of(after)[:2], portraits.corners_of(before)[:2]
    assert portraits.is_hidden(*corners)
    face = portraits.face_of(after, 0.5), portraits.face_of(before, 0.5)
    assert np.abs(face[0].astype(int) - face[1]).mean() < 2


def test_the_background_is_replaced_by_comparison_with_the_empty_room(tmp_path):
    room = PIL.Image.open(MEDIA / "office.jpg").convert("RGB").resize((640, 360))
    room.save(tmp_path / "room.png")
    person = PIL.Image.fromarray(portraits.scene()).crop((220, 60, 420, 300))
    room.paste(person, (220, 120))
    room.save(tmp_path / "in.png")
    PIL.Image.new("RGB", (64, 36), (20, 60, 200)).save(tmp_path / "sky.png")
    pipeline = 'virtualBackground(plate: "room.png", backgroundImage: "sky.png", lightWrap: 0)'
    result = applied(tmp_path, pipeline).astype(int)
    assert np.abs(portraits.corners_of(result) - [20, 60, 200]).max() <= 2
    inside = slice(180, 300), slice(260, 380)
    assert np.abs(result[inside] - np.asarray(room)[inside]).mean() < 8


@pytest.mark.parametrize(
    "text", ["faceBlur @mix(0.5)", "faceBlur @region(0, 0, 0.5w, 1h)", "scale(width: 99), faceBlur"]
)
def test_the_command_points_at_a_stage_that_would_show_a_face(vision, folder, text):
    finished = sidelight(
        *("apply", "in.png", "out.png", "--pipeline", text), cwd=folder, fails=True
    )
    assert text in finished.stderr.decode().splitlines()
    assert "faceBlur" in finished.stderr.decode()
    assert not (folder / "out.png").exists()


def test_a_command_without_vision_refuses_with_the_reason(has_vision, folder):
    if has_vision:
        pytest.skip("this command has Vision")
    finished = sidelight(
        *("apply", "in.png", "out.png", "--pipeline", "faceBlur"), cwd=folder, fails=True
    )
    assert "built without Vision" in finished.stderr.decode()
