"""The files that `sidelight` writes: complete or not at all, and never over an input."""

import io
import os
import signal
import subprocess
import time
from pathlib import Path

import PIL.Image
import pytest

from sidelight_testing.command import sidelight
from sidelight_testing.server import binary
from sidelight_testing.video import FRAME_BYTES, HEADER, frames_of, pictures, y4m

VIDEO = y4m(pictures(3))
INVERTED = ("--pipeline", "colorInvert")
WAIT_SECONDS = 60


@pytest.fixture
def folder(tmp_path):
    """A folder with a video and a picture, also under other names."""
    (tmp_path / "in.y4m").write_bytes(VIDEO)
    PIL.Image.new("RGB", (16, 9), "red").save(tmp_path / "in.png")
    (tmp_path / "other").mkdir()
    for name in ("in.y4m", "in.png"):
        (tmp_path / "other" / f"link-{name}").symlink_to(tmp_path / name)
        (tmp_path / "other" / f"hard-{name}").hardlink_to(tmp_path / name)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder, also hidden ones."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def stream(server, folder, *arguments: object, **options):
    return sidelight(
        *("stream", *arguments, "--server", server.addresses["tcp"]),
        *(() if "--pipeline" in arguments else INVERTED), cwd=folder, **options,
    )


@pytest.mark.parametrize("name", ["{}", "./{}", "other/link-{}", "other/hard-{}", "/dev/stdin"])
def test_a_verb_does_not_write_over_its_input(server, folder, name):
    before = contents(folder)
    for verb, file, more in [
        ("stream", "in.y4m", ("--server", server.addresses["tcp"])),
        ("apply", "in.png", ()),
        ("apply", "in.png", ("--server", server.addresses["tcp"])),
    ]:
        for order in (1, -1):
            given = [file, name.format(file)][::order]
            if given[1] == "/dev/stdin":
                continue
            with open(folder / file, "rb") as standard:
                finished = sidelight(
                    verb, *given, *more, *INVERTED, cwd=folder, fails=True, stdin=standard
                )
            assert finished.returncode == 64
            assert "write the result to another file" in finished.stderr.decode()
            assert contents(folder) == before


def test_standard_streams_on_the_same_file_are_refused(server, folder):
    at = ("--server", server.addresses["tcp"])
    with open(folder / "in.y4m", "rb") as standard:
        finished = sidelight(
            "stream", "-", "in.y4m", *at, cwd=folder, fails=True, stdin=standard
        )
    assert "write the result to another file" in finished.stderr.decode()
    with open(folder / "in.y4m", "ab") as standard:
        finished = subprocess.run(
            [binary(), "stream", "in.y4m", "-", *at], cwd=folder, stdout=standard,
            stderr=subprocess.PIPE, timeout=60,
        )
    assert finished.returncode == 64
    assert (folder / "in.y4m").read_bytes() == VIDEO


def test_apply_does_not_write_over_its_assets(folder):
    before = contents(folder)
    PIL.Image.new("RGBA", (4, 4)).save(folder / "logo.png")
    before = contents(folder)
    for pipeline in (
        ("overlay(asset: logo)", "--asset", "logo=logo.png"), ('overlay(asset: "logo.png")',),
    ):
        sidelight("apply", "in.png", "logo.png", "-p", *pipeline, cwd=folder, fails=True)
        assert contents(folder) == before


def test_a_file_that_exists_is_replaced_and_keeps_its_links_and_permissions(server, folder):
    target = folder / "out.y4m"
    target.write_bytes(b"old" * 100_000)
    target.chmod(0o640)
    (folder / "link.y4m").symlink_to("out.y4m")
    stream(server, folder, "in.y4m", "link.y4m")
    assert (folder / "link.y4m").is_symlink()
    assert len(frames_of(target.read_bytes())) == 3
    assert target.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("place", ["a mount point", "a folder without room for files"])
def test_a_file_that_cannot_be_renamed_gets_the_contents(folder, place):
    """Containers mount single files, and folders that only hold them."""
    (folder / "results").mkdir()
    (folder / "results/out.png").write_bytes(b"old" * 100_000)
    mounts = {
        "a mount point": "mount --bind results/out.png results/out.png",
        "a folder without room for files": (
            "cp results/out.png file; mount -t tmpfs -o ro none results 2>/dev/null;"
            "mount -o remount,rw none results; touch results/out.png;"
            "mount --bind file results/out.png; mount -o remount,ro none results"
        ),
    }
    run = f"{mounts[place]} && {binary()} apply in.png results/out.png --pipeline colorInvert && " \
        "cat results/out.png >copy.png && ls -A results"
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*inside, mounts[place]], cwd=folder, capture_output=True).returncode:
        pytest.skip("needs user namespaces")
    done = subprocess.run([*inside, run], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "out.png"
    with PIL.Image.open(folder / "copy.png") as picture:
        assert picture.convert("RGB").getpixel((0, 0)) == (0, 255, 255)


def test_a_new_file_has_the_permissions_of_the_umask(server, folder):
    stream(server, folder, "in.y4m", "out.y4m", umask=0o027)
    assert (folder / "out.y4m").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("failure", ["cut short", "refused later", "no server"])
def test_a_failed_run_leaves_the_files_as_they_were(server, folder, failure):
    (folder / "out.y4m").write_bytes(b"earlier result")
    if failure == "cut short":
        (folder / "in.y4m").write_bytes(VIDEO[:-1])
    before = contents(folder)
    at = "unix:/tmp/sidelight-nobody" if failure == "no server" else server.addresses["tcp"]
    later = ("--pipeline-at", "0.08=colorInvrt") if failure == "refused later" else ()
    sidelight("stream", "in.y4m", "out.y4m", "--server", at, *later, cwd=folder, fails=True)
    assert contents(folder) == before


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_leaves_no_file_and_prints_a_summary(server, folder, sent):
    before = contents(folder)
    running = subprocess.Popen(
        [binary(), "stream", "-", "out.y4m", "--server", server.addresses["tcp"], *INVERTED],
        cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    try:
        running.stdin.write(VIDEO)
        running.stdin.flush()
        # The input stays open, as a camera's does.
        deadline = time.monotonic() + WAIT_SECONDS
        while not any(path.stat().st_size >= 3 * FRAME_BYTES for path in folder.glob(".sidelight-*")):
            assert time.monotonic() < deadline and running.poll() is None
            time.sleep(0.05)
        assert not (folder / "out.y4m").exists()
        running.send_signal(sent)
        said = running.stderr.read().decode()
        assert running.wait(timeout=WAIT_SECONDS) == 128 + sent
    finally:
        running.kill()
        running.wait()
        running.stdin.close()
        running.stderr.close()
    assert said.startswith("3 frames in ") and "3 filtered; none dropped" in said
    assert contents(folder) == before


def test_pipes_and_standard_output_are_written_directly(server, folder):
    expected = stream(server, folder, "in.y4m", "-").stdout
    assert len(frames_of(expected)) == 3
    assert stream(server, folder, "in.y4m", "/dev/stdout").stdout == expected
    with open(folder / "in.y4m", "rb") as standard:
        assert stream(server, folder, "-", "-", stdin=standard).stdout == expected
    # Standard output may be a file, which the shell opened.
    with open(folder / "out.y4m", "wb") as file:
        subprocess.run(
            [binary(), "stream", "in.y4m", "/dev/stdout", "--server", server.addresses["tcp"]]
            + [*INVERTED], cwd=folder, stdout=file, stderr=subprocess.DEVNULL, check=True,
            timeout=60,
        )
    assert (folder / "out.y4m").read_bytes() == expected

    os.mkfifo(folder / "pipe")
    reader = subprocess.Popen(["cat", folder / "pipe"], stdout=subprocess.PIPE)
    stream(server, folder, "in.y4m", "pipe")
    assert reader.communicate(timeout=WAIT_SECONDS)[0] == expected


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("at_server", [False, True])
def test_apply_reads_and_writes_standard_streams(server, folder, kind, at_server):
    file = io.BytesIO()
    PIL.Image.new("RGB", (24, 16), (200, 100, 50)).save(file, kind)
    more = ("--server", server.addresses["tcp"]) if at_server else ()
    finished = sidelight("apply", "-", "-", *INVERTED, *more, video=file.getvalue(), cwd=folder)
    result = PIL.Image.open(io.BytesIO(finished.stdout))
    assert result.format == kind and result.size == (24, 16)
    assert max(abs(a - b) for a, b in zip(result.getpixel((9, 9)), (55, 155, 205))) <= 2
    sidelight("apply", "-", "out.png", *INVERTED, *more, video=file.getvalue(), cwd=folder)
    with PIL.Image.open(folder / "out.png") as written:
        assert written.format == "PNG"


def test_the_header_is_written_before_the_first_frame_ends(server, folder):
    """A pipe is not held back until the end."""
    running = subprocess.Popen(
        [binary(), "stream", "-", "-", "--server", server.addresses["tcp"]], cwd=folder,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    try:
        running.stdin.write(y4m(pictures(1)))
        running.stdin.flush()
        assert len(running.stdout.read(len(HEADER) + FRAME_BYTES)) == len(HEADER) + FRAME_BYTES
        running.stdin.close()
        assert running.wait(timeout=WAIT_SECONDS) == 0
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
