"""`sidelight stream` with containers, which ffmpeg reads and writes, and with an RTSP server."""

import json
import os
import pty
import re
import shutil
import subprocess
import urllib.request

import numpy as np
import pytest

from sidelight_testing import rtsp
from sidelight_testing.command import sidelight
from sidelight_testing.contract import image
from sidelight_testing.server import Server, binary
from sidelight_testing.video import frames_of, pictures, y4m

pytestmark = pytest.mark.skipif(
    not (shutil.which("ffmpeg") and shutil.which("ffprobe")), reason="ffmpeg is not installed"
)

WIDTH, HEIGHT, COUNT = 320, 180, 40
# Pictures at uneven times: every third of 25 a second is missing.
UNEVEN = "select='mod(n,3)'"


def ffmpeg(*arguments: object, **options) -> bytes:
    command = ["ffmpeg", "-nostdin", "-y", "-loglevel", "error", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, timeout=60, **options).stdout


def make_video(
    path, *options: str, seconds: float = 60 / 25, filters: str = UNEVEN, audio=True, delay=0.0
):
    """Writes a video with a sound, of 40 pictures by default, which begin after a delay."""
    source = f"testsrc2=size={WIDTH}x{HEIGHT}:rate=25:duration={seconds},{filters}"
    sound = ["-f", "lavfi", "-i", f"sine=frequency=440:duration={seconds}"] if audio else []
    ffmpeg(
        *("-itsoffset", str(delay), "-f", "lavfi", "-i", source, *sound, "-fps_mode", "passthrough"),
        *("-pix_fmt", "yuv420p", *(options or ("-c:v", "libx264", "-c:a", "aac")), path),
    )
    return path


def probe(path, *entries: str, kind: str = "v:0") -> dict:
    command = ["ffprobe", "-loglevel", "error", "-select_streams", kind, "-of", "json"]
    command += ["-show_entries", ":".join(entries), str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


def times(path) -> list[float]:
    """The times of the pictures, from the first one."""
    packets = probe(path, "packet=pts_time")["packets"]
    found = sorted(float(packet["pts_time"]) for packet in packets)
    return [round(time - found[0], 3) for time in found]


def samples(path) -> np.ndarray:
    """The decoded pictures: rows of bytes in I420."""
    decoded = ffmpeg(
        "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-f",
        "rawvideo", "-",
    )
    return np.frombuffer(decoded, np.uint8).reshape(-1, WIDTH * HEIGHT * 3 // 2)


def psnr(actual: np.ndarray, expected: np.ndarray) -> float:
    assert actual.shape == expected.shape
    error = np.mean((actual.astype(np.float64) - expected) ** 2)
    return 10 * np.log10(255**2 / max(error, 1e-9))


def sound(path) -> bytes:
    """A digest of the packets of the sound."""
    return ffmpeg("-i", path, "-map", "0:a:0", "-c", "copy", "-f", "md5", "-")


def received_bytes(server) -> int:
    """The bytes of pictures that the server has received."""
    with urllib.request.urlopen(
        f"http://{server.addresses['admin']}/metrics", timeout=60
    ) as answer:
        text = answer.read().decode()
    (value,) = re.findall(r'^sidelight_frame_bytes_total\{direction="in"\} (\d+)', text, re.M)
    return int(value)


def stream(server, *arguments: object, **options):
    return sidelight("stream", *arguments, "--server", server.addresses["tcp"], **options)


@pytest.fixture
def encodes(info):
    """Skips a test where the server lacks an encoder."""
    formats = {each.format for each in info.codecs if each.encodes}

    def check(codec: str) -> None:
        if image.PixelFormat.Value(f"PIXEL_FORMAT_{codec.upper()}") not in formats:
            pytest.skip(f"this server does not encode {codec}")

    return check


@pytest.mark.parametrize("source", ["mp4", "mkv"])
@pytest.mark.parametrize("target", ["mp4", "m4v", "mov", "mkv"])
def test_a_container_keeps_pictures_times_and_sound(server, tmp_path, source, target):
    before, after = make_video(tmp_path / f"in.{source}"), tmp_path / f"out.{target}"
    finished = stream(server, before, after, "--pipeline", "colorInvert")
    assert finished.stderr.decode().startswith(f"{COUNT} frames in ")
    assert times(after) == pytest.approx(times(before), abs=0.0011)
    assert sound(after) == sound(before)
    luma = np.s_[:, : WIDTH * HEIGHT]
    assert psnr(samples(after)[luma], 251.0 - samples(before)[luma]) > 32
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_sound_keeps_its_place(server, tmp_path):
    """Pictures that begin half a second after the sound, in a file that begins at 1.4 s."""
    before = make_video(
        tmp_path / "in.ts", "-c:v", "libx264", "-c:a", "aac", "-f", "mpegts", delay=0.5
    )
    stream(server, before, tmp_path / "out.mkv")

    def delay(path) -> float:
        starts = [
            float(probe(path, "packet=pts_time", kind=kind)["packets"][0]["pts_time"])
            for kind in ("v:0", "a:0")
        ]
        return starts[0] - starts[1]

    assert delay(before) > 0.4
    assert delay(tmp_path / "out.mkv") == pytest.approx(delay(before), abs=0.002)


def test_a_rotated_video_becomes_upright(server, tmp_path):
    plain = make_video(tmp_path / "plain.mp4", audio=False)
    ffmpeg(
        "-i", plain, "-c", "copy", "-metadata:s:v:0", "rotate=90", tmp_path / "in.mp4"
    )
    after = tmp_path / "out.mp4"
    stream(server, tmp_path / "in.mp4", after, "--duration", "0.5")
    (found,) = probe(after, "stream=width,height", "stream_side_data=rotation")["streams"]
    assert (found["width"], found["height"]) == (HEIGHT, WIDTH)
    assert not found.get("side_data_list")
    upright = samples(tmp_path / "in.mp4")
    assert psnr(samples(after), upright[: len(samples(after))]) > 32


@pytest.mark.parametrize("codec, target", [("h264", "mp4"), ("vp8", "mkv"), ("vp9", "webm")])
@pytest.mark.parametrize("source", ["sent as it is", "with B-frames"])
def test_a_codec_makes_pictures_travel_encoded(encodes, tmp_path, codec, target, source):
    encodes(codec)
    frames = ("-bf", "0", "-preset", "veryfast") if source == "sent as it is" else ("-bf", "2")
    before = make_video(
        tmp_path / "in.mkv", "-c:v", "libx264", *frames, "-c:a", "libopus", "-strict", "-2"
    )
    after = tmp_path / f"out.{target}"
    with Server("--admin", "127.0.0.1:0") as server:
        stream(server, before, after, "--codec", codec, "--bit-rate", "2M", "-p", "colorInvert")
        received = received_bytes(server)
    raw = WIDTH * HEIGHT * 3 // 2 * COUNT
    assert received < raw / 4 if source == "sent as it is" else received == raw
    assert probe(after, "stream=codec_name")["streams"][0]["codec_name"] == codec
    assert times(after) == pytest.approx(times(before), abs=0.0011)
    assert sound(after) == sound(before)
    luma = np.s_[:, : WIDTH * HEIGHT]
    assert psnr(samples(after)[luma], 251.0 - samples(before)[luma]) > 28


def test_the_bit_rate_of_a_file_holds(encodes, server, tmp_path):
    encodes("vp8")
    before = make_video(tmp_path / "in.mp4", seconds=6, filters="noise=alls=20:allf=t")
    for rate in (300, 1200):
        after = tmp_path / f"out-{rate}.mkv"
        stream(server, before, after, "--codec", "vp8", "--bit-rate", f"{rate}k", "-p", "sepiaTone")
        packets = probe(after, "packet=size")["packets"]
        size = sum(int(packet["size"]) for packet in packets)
        assert size * 8 / 6 == pytest.approx(rate * 1000, rel=0.25)


def test_a_video_that_the_server_cannot_decode_is_sent_as_samples(encodes, server, tmp_path):
    """H.264 with two slices of several references is beyond its decoder's limits."""
    encodes("h264")
    before = make_video(
        tmp_path / "in.mp4", "-c:v", "libx264", "-bf", "0", "-refs", "16", "-preset", "ultrafast",
        "-x264-params", "ref=16:interlaced=0:slices=4", "-c:a", "aac",
    )
    after = tmp_path / "out.mp4"
    stream(server, before, after, "--codec", "h264", "-p", "colorInvert")
    assert times(after) == pytest.approx(times(before), abs=0.0011)


def test_the_duration_limits_pictures_and_sound(server, tmp_path):
    before = make_video(tmp_path / "in.mp4", filters="null")
    stream(server, before, tmp_path / "out.mp4", "--duration", "0.48")
    assert len(times(tmp_path / "out.mp4")) == 12
    last = probe(tmp_path / "out.mp4", "packet=pts_time", kind="a:0")["packets"][-1]
    assert 0.4 < float(last["pts_time"]) < 0.52
    finished = stream(
        server, "-", "-", "--duration", "0.2", video=y4m(pictures(10))
    )
    assert len(frames_of(finished.stdout)) == 5


def test_y4m_and_containers_mix(server, tmp_path):
    sent = pictures(10)
    stream(server, "-", tmp_path / "out.mkv", video=y4m(sent))
    assert times(tmp_path / "out.mkv") == pytest.approx([each / 25 for each in range(10)])
    finished = stream(server, tmp_path / "out.mkv", "-")
    assert len(frames_of(finished.stdout)) == 10


def test_real_time_keeps_the_times(server, tmp_path):
    before = make_video(tmp_path / "in.mp4")
    stream(server, before, tmp_path / "out.mp4", "--realtime")
    found, expected = times(tmp_path / "out.mp4"), times(before)
    # A busy machine may drop some.
    assert set(found) <= set(expected)
    assert len(found) >= COUNT / 2


def test_a_terminal_shows_the_progress(server, tmp_path):
    before = make_video(tmp_path / "in.mp4")
    control, terminal = pty.openpty()
    with os.fdopen(control, "rb", buffering=0) as screen:
        subprocess.run(
            [
                *(binary(), "stream", before, tmp_path / "out.mp4", "--realtime"),
                *("--server", server.addresses["tcp"]),
            ],
            stderr=terminal, check=True, timeout=60,
        )
        os.close(terminal)
        shown = screen.read(65536).decode()
    parts = [int(each) for each in re.findall(r"(\d+) %; ", shown)]
    assert parts == sorted(parts) and 0 < parts[0] < parts[-1] <= 100


@pytest.mark.parametrize("codec", [None, "vp8"])
def test_an_rtsp_server_is_read_in_real_time(encodes, tmp_path, codec):
    options = ()
    if codec:
        encodes(codec)
        options = ("--codec", codec)
    after = tmp_path / "out.mkv"
    with rtsp.RTSPServer() as camera, Server("--log-level", "debug") as server:
        stream(server, camera.url, after, "--duration", "3", "-p", "colorInvert", *options)
        assert "secret" not in server.log
    found = times(after)
    # ffmpeg reads a while before it delivers the first pictures, and a busy machine drops some.
    assert len(found) > 5
    for time in found:
        assert time * rtsp.FRAMES_PER_SECOND == pytest.approx(
            round(time * rtsp.FRAMES_PER_SECOND), abs=0.1)
    assert found[-1] < 3.1
    assert samples(after).shape[1] == WIDTH * HEIGHT * 3 // 2


# MARK: Misuse


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    """A folder with videos, and files that are not."""
    folder = tmp_path_factory.mktemp("videos")
    make_video(folder / "in.mp4")
    make_video(folder / "interlaced.ts", "-c:v", "mpeg2video", "-flags", "+ildct+ilme", "-an")
    ffmpeg("-f", "lavfi", "-i", "sine=duration=1", folder / "sound.m4a")
    ffmpeg("-f", "lavfi", "-i", "testsrc2", "-frames:v", "1", folder / "picture.png")
    (folder / "text.mp4").write_text("Not a video.\n" * 1000)
    (folder / "text.txt").write_text("Not a video.\n" * 1000)
    (folder / "empty.mp4").touch()
    os.mkfifo(folder / "pipe.mp4")
    return folder


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("sound.m4a", "out.mp4"), "'sound.m4a' has no video stream"),
        (("picture.png", "out.mp4"), "'picture.png' is in an unknown format"),
        (("text.txt", "out.mp4"), "text.txt"),
        (("text.mp4", "out.mp4"), "Invalid data found"),
        (("empty.mp4", "out.mp4"), "ffprobe"),
        (("none.mp4", "out.mp4"), "No such file or directory"),
        (("interlaced.ts", "out.mp4"), "'interlaced.ts' is interlaced"),
        (("in.mp4", "out.xyz"), "'out.xyz' is in an unknown format; its name must end in .y4m"),
        (("in.mp4", "in.mp4"), "write the result to another file"),
        (("in.mp4", "pipe.mp4"), "a container needs a file"),
        (("in.mp4", "out.webm"), "Only VP8 or VP9"),
        (("in.mp4", "out.mp4", "--codec", "vp8"), "--codec is vp8; .mp4 holds h264 or vp9"),
        (("in.mp4", "out.y4m", "--codec", "vp8"), "--codec requires a container"),
        (("in.mp4", "-", "--codec", "vp8"), "--codec requires a container"),
        (("in.mp4", "out.mp4", "--codec", "mjpeg"), "--codec"),
        (("in.mp4", "out.mp4", "--bit-rate", "2M"), "--bit-rate requires --codec"),
        (("in.mp4", "out.mp4", "--codec", "h264", "--bit-rate", "2G"), "'2G' is not a bit rate"),
        (("in.mp4", "out.mp4", "--duration", "0"), "'0' is not a time in seconds"),
        (("/dev/video63", "out.mp4"), "/dev/video63: No such file or directory"),
        (("rtsp://127.0.0.1:1/none", "out.mp4"), "Connection refused"),
    ],
    ids=str,
)
def test_misuse_is_reported_and_leaves_no_file(server, videos, arguments, words):
    before = sorted(videos.iterdir())
    finished = stream(server, *arguments, cwd=videos, fails=True)
    assert words in finished.stderr.decode()
    assert sorted(videos.iterdir()) == before


@pytest.mark.parametrize("program", [None, "#!/bin/sh\necho something else\n"])
def test_a_missing_ffmpeg_is_reported(server, videos, tmp_path, program):
    for name in ("ffmpeg", "ffprobe"):
        if program:
            (tmp_path / name).write_text(program)
            (tmp_path / name).chmod(0o755)
    finished = stream(
        server, "in.mp4", "out.mp4", cwd=videos, fails=True, env=os.environ | {"PATH": str(tmp_path)}
    )
    assert "(YUV4MPEG2) need ffmpeg, version 5.1 or later" in finished.stderr.decode()
    # Y4M does not need it.
    stream(server, "-", "-", video=y4m(pictures(2)), env=os.environ | {"PATH": str(tmp_path)})


@pytest.mark.parametrize(
    "role, run",
    [
        # The reader in the second picture; the writer in the first one.
        ("pipe:1", f'"$real" "$@" | head -c {WIDTH * HEIGHT * 9 // 4}'),
        ("pipe:0", "head -c 100000 >/dev/null"),
    ],
    ids=["reader", "writer"],
)
def test_a_killed_ffmpeg_is_an_error(server, videos, tmp_path, role, run):
    script = (
        f"#!/bin/sh\nreal={shutil.which('ffmpeg')}\n"
        f'case "$*" in *{role}*) {run}; kill -9 $$;; esac\nexec "$real" "$@"\n'
    )
    (tmp_path / "ffmpeg").write_text(script)
    (tmp_path / "ffmpeg").chmod(0o755)
    before = sorted(videos.iterdir())
    finished = stream(
        server, "in.mp4", "out.mp4", cwd=videos, fails=True,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert "ffmpeg: SIGKILL" in finished.stderr.decode()
    assert sorted(videos.iterdir()) == before
