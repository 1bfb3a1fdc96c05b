"""Files that are dropped on the page or chosen."""

import subprocess

from studiotesting.studio import REPOSITORY

# A table that exchanges red and blue.
TABLE = "LUT_3D_SIZE 2\n" + "\n".join(
    f"{blue} {green} {red}" for blue in (0, 1) for green in (0, 1) for red in (0, 1)
)


def test_a_dropped_table_is_applied(page, tmp_path):
    page.use_camera()
    page.wait_for_picture("c.red[0] > 200 && c.red[2] < 60")
    file = tmp_path / "swap red and blue.cube"
    file.write_text(TABLE)
    page.drop_file(file)
    page.wait_for_picture("c.red[2] > 200 && c.red[0] < 60")
    assert page.pipeline() == "colorCube(asset: swap-red-and-blue.cube)"
    assert page.text('[data-asset="swap-red-and-blue.cube"] .hint') == "table of 2"


def test_a_dropped_picture_is_overlaid_and_offered_for_other_stages(page, tmp_path):
    page.use_camera()
    page.wait_for_picture("c.gray[0] > 150 && c.gray[1] > 150")
    file = tmp_path / "sticker.png"
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "color=red:s=64x64", "-frames:v",
         "1", file],
        check=True, timeout=60,
    )
    page.drop_file(file)
    page.until("() => document.querySelector('#stages [data-filter=overlay]')")
    page.enter_text("overlay(asset: sticker.png, fit: stretch)")
    page.wait_for_picture("c.gray[0] > 200 && c.gray[1] < 60")

    page.enter_text("")
    page.click('#gallery [data-filter="multiplyCompositing"]')
    page.until("() => document.querySelector('#stages [data-filter=multiplyCompositing] select')")
    offered = page.run(
        """() => [...document.querySelector('[data-parameter="backgroundImage"] select').options]
            .map((each) => each.value)"""
    )
    assert "sticker.png" in offered
    assert "sticker.png" in page.pipeline()


def test_a_damaged_file_is_refused_with_a_reason(page, tmp_path):
    file = tmp_path / "broken.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\nno picture")
    page.drop_file(file)
    page.until("() => document.querySelector('#asset-status.problem')")
    assert page.text("#asset-status")
    assert not page.run("() => document.querySelector('[data-asset=\"broken.png\"]')")


def test_a_dropped_video_is_a_source(page, tmp_path):
    file = tmp_path / "green.webm"
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "color=0x00ff00:s=320x180:d=1:r=15",
         "-c:v", "libvpx", file],
        check=True, timeout=60,
    )
    page.enter_text("")
    page.drop_file(file)
    page.until("() => document.querySelector('#source').value === 'file'")
    page.wait_for_picture("c.gray[1] > 200 && c.gray[0] < 60")


def test_a_still_is_a_source(page):
    page.enter_text("")
    page.choose_still(REPOSITORY / "Examples/media/gradient.jpg")
    page.wait_until_ready()
