"""The Go example: a call of two pion peers over loopback, filtered through a server, with encoded
frames in both directions."""

import re
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

import grpc
import numpy as np
import pytest

from sidelight_testing.contract import REPOSITORY, frame_filter, service
from sidelight_testing.debian import require_packages
from sidelight_testing.programs import Program
from sidelight_testing.server import Server

# The number of every picture of the file is drawn in its top rows, which the filter leaves.
INVERT = "colorInvert @region(0, 0.25h, 1w, 0.75h)"
FRAMES_PER_SECOND = 15
WIDTH, HEIGHT, COUNTER_HEIGHT, COUNTER_BITS = 320, 180, 44, 16
COUNT = 60
DARK, LIGHT = 40, 200
# Video is lossy, also for flat pictures, and they are encoded twice.
TOLERANCE = 4
CODECS = ["VP8", "H264"]


def luma(index: int) -> int:
    """The luma of a picture of the file."""
    return 40 + (7 * index) % 160


def picture(index: int, is_noise: bool = False) -> bytes:
    """A grey picture in I420 with its number in the top rows, and a luma or noise below."""
    plane = np.full((HEIGHT, WIDTH), luma(index), np.uint8)
    if is_noise:
        blocks = np.random.default_rng(index).integers(60, 180, (HEIGHT // 4, WIDTH // 4), np.uint8)
        plane[:] = np.kron(blocks, np.ones((4, 4), np.uint8))
    bits = [index >> (COUNTER_BITS - 1 - bit) & 1 for bit in range(COUNTER_BITS)]
    counter = np.repeat(np.where(bits, LIGHT, DARK), WIDTH // COUNTER_BITS)
    plane[:COUNTER_HEIGHT] = counter
    return plane.tobytes() + bytes([128]) * (WIDTH * HEIGHT // 2)


def ffmpeg(options: str, data: bytes) -> bytes:
    command = ["ffmpeg", "-v", "error", "-xerror", *options.split()]
    finished = subprocess.run(command, input=data, capture_output=True, timeout=120, check=False)
    assert finished.returncode == 0 and not finished.stderr, finished.stderr.decode()
    return finished.stdout


def ivf(units: list[bytes], code: bytes, rate: int) -> bytes:
    def number(value: int, size: int) -> bytes:
        return value.to_bytes(size, "little")

    header = b"DKIF" + number(0, 2) + number(32, 2) + code + number(WIDTH, 2) + number(HEIGHT, 2)
    header += number(rate, 4) + number(1, 4) + number(len(units), 4) + number(0, 4)
    return header + b"".join(
        number(len(unit), 4) + number(index, 8) + unit for index, unit in enumerate(units)
    )


def units(file: bytes) -> list[bytes]:
    """The frames of an IVF file."""
    found, start = [], 32
    while start < len(file):
        size = int.from_bytes(file[start : start + 4], "little")
        found.append(file[start + 12 : start + 12 + size])
        start += 12 + size
    return found


def encode(
    codec: str, rate: int = FRAMES_PER_SECOND, keys: int = 15, is_noise: bool = False
) -> bytes:
    """The IVF file of a video with a key frame every `keys` frames."""
    require_packages("ffmpeg")
    raw = b"".join(picture(index, is_noise) for index in range(COUNT))
    source = f"-f rawvideo -pix_fmt yuv420p -s {WIDTH}x{HEIGHT} -r {rate} -i -"
    settings = f"-g {keys} -keyint_min {keys} -b:v 1M -threads 1"
    if codec == "VP8":
        encoder = "-c:v libvpx -deadline realtime -auto-alt-ref 0 -f ivf"
        return ivf(units(ffmpeg(f"{source} {settings} {encoder} -", raw)), b"VP80", rate)
    encoder = "-c:v libx264 -profile:v baseline -bf 0 -x264-params scenecut=0:aud=1 -f h264"
    stream = ffmpeg(f"{source} {settings} {encoder} -", raw)
    access_units = re.findall(rb"\0\0\0\x01\x09.*?(?=\0\0\0\x01\x09|\Z)", stream, re.DOTALL)
    return ivf(access_units, b"H264", rate)


class Call(Program):
    """A running call, whose output can be decoded after its end."""

    def __init__(
        self, programs: Path, folder: Path, address: str, pipeline: str = INVERT,
        video: bytes | None = None,
    ) -> None:
        (folder / "in.ivf").write_bytes(video or encode("VP8"))
        self.output = folder / "out.ivf"
        super().__init__(programs / "call", address, pipeline, folder / "in.ivf", self.output)

    def rows(self, kind: str) -> list[list[int]]:
        """The numbers of every line of a kind."""
        return [
            [int(word) for word in line.split()[1:]]
            for line in self.lines if re.fullmatch(kind + r"( \d+)+", line)
        ]

    def shown(self) -> list[tuple[int, str, int]]:
        """The number, kind and bytes of every frame that the participant received."""
        found = [re.fullmatch(r"shown (\d+) (key|delta) (\d+)", line) for line in self.lines]
        return [(int(each[1]), each[2], int(each[3])) for each in found if each]

    def pictures(self) -> list[tuple[int, int, int]]:
        """The number of every received frame, the number drawn in it, and its luma.

        Fails if a frame cannot be decoded.
        """
        file = self.output.read_bytes()
        if file[8:12] == b"H264":
            raw = ffmpeg("-f h264 -i - -vsync 0 -f rawvideo -", b"".join(units(file)))
        else:
            raw = ffmpeg("-f ivf -i - -vsync 0 -f rawvideo -", file)
        pixels = np.frombuffer(raw, np.uint8).reshape(-1, HEIGHT * 3 // 2, WIDTH)
        shown = self.shown()
        assert len(pixels) == len(shown)
        centres = (np.arange(COUNTER_BITS) + 0.5) * (WIDTH / COUNTER_BITS)
        weights = 1 << np.arange(COUNTER_BITS)[::-1]
        found = []
        for (number, _, _), plane in zip(shown, pixels):
            bits = plane[COUNTER_HEIGHT // 2, centres.astype(int)] > (DARK + LIGHT) / 2
            middle = plane[(COUNTER_HEIGHT + HEIGHT) // 2, WIDTH // 2 - 4 : WIDTH // 2 + 5]
            found.append((number, int(weights[bits].sum()), round(float(middle.mean()))))
        return found

    def indices(self) -> dict[int, int]:
        """The picture of the file by the number of the frame."""
        return dict(self.rows("captured"))

    def outcomes(self) -> tuple[dict[int, tuple[str, int]], list[int]]:
        """The disposition and revision by number of the frame, and all sequences in order."""
        found, order = {}, []
        for line in self.lines:
            word, *rest = line.split()
            if word == "outcome":
                order.append(int(rest[0]))
                found[int(rest[1])] = (rest[2], int(rest[3]))
            elif word == "dropped":
                order += range(int(rest[0]), int(rest[1]) + 1)
        return found, order


@pytest.fixture(scope="session", autouse=True)
def codecs(server):
    """The formats that the server decodes and encodes."""
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        info = service.FrameFilterStub(channel).GetServerInfo(frame_filter.GetServerInfoRequest())
    if not any(each.encodes for each in info.codecs):
        pytest.skip("the server was built without the codecs")


@pytest.mark.parametrize("codec", CODECS)
def test_a_track_is_filtered_and_keeps_its_timestamps(go_programs, server, tmp_path, codec):
    with Call(go_programs, tmp_path, server.addresses["unix"], video=encode(codec)) as call:
        call.wait_for("peer connected")
        for _ in range(20):
            call.wait_for("shown .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    pictures, indices = call.pictures(), call.indices()
    returned, order = call.outcomes()
    assert len(pictures) >= 20
    numbers = [number for number, _, _ in pictures]
    assert numbers == sorted(set(numbers))
    for number, index, after in pictures:
        # The number that the timestamp means, and the one in the picture.
        assert indices[number] == index
        assert returned[number] == ("FILTERED", 1)
        assert abs(after - (251 - luma(index))) <= TOLERANCE
    assert order == list(range(1, len(order) + 1))


def test_a_selection_applies_from_the_frame_that_its_revision_names(
    go_programs, server, tmp_path
):
    with Call(go_programs, tmp_path, server.addresses["tcp"]) as call:
        call.wait_for("shown .*")
        call.send("select sepiaTome")
        refused = call.wait_for("refused (.*)")[1]
        details = "select.pipeline_text column 1 value sepiaTome suggestion sepiaTone: "
        assert refused.startswith(details), refused
        call.wait_for(r"outcome \d+ \d+ FILTERED 1")
        call.send("select grayscale @region(0, 0.25h, 1w, 0.75h)")
        revision = int(call.wait_for(r"accepted (\d+)")[1])
        first = call.wait_for(rf"outcome \d+ (\d+) FILTERED {revision}")[1]
        call.wait_for(rf"shown {first} .*")
        for _ in range(5):
            call.wait_for("shown .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    returned, _ = call.outcomes()
    seen = set()
    for number, index, after in call.pictures():
        _, current = returned[number]
        seen.add(current)
        expected = luma(index) if current == revision else 251 - luma(index)
        assert abs(after - expected) <= TOLERANCE
    assert seen == {1, revision}


def test_frames_that_cannot_be_sent_are_dropped_up_to_a_key_frame(go_programs, tmp_path):
    address = f"unix:{tmp_path}/socket"
    with (
        Server("--listen", address) as server,
        Call(go_programs, tmp_path, address, video=encode("VP8", rate=60, keys=COUNT)) as call,
    ):
        call.wait_for("outcome .*")
        # A server that does not answer uses up the credits. Outcomes are in order, so the outcomes
        # of waiting frames follow the server's.
        server.process.send_signal(signal.SIGSTOP)
        for _ in range(30):
            call.wait_for(r"captured \d+ \d+")
        server.process.send_signal(signal.SIGCONT)
        call.wait_for(r"dropped \d+ \d+ SUPERSEDED_IN_CLIENT")
        call.wait_for(r"dropped \d+ \d+ NOT_DECODABLE")
        for _ in range(5):
            call.wait_for("outcome .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
        (totals,) = [line.split() for line in call.lines if line.startswith("counts ")]
    returned, order = call.outcomes()
    indices = call.indices()
    assert order == list(range(1, len(order) + 1))
    assert set(returned) <= set(indices)
    assert len(returned) == int(totals[totals.index("written") + 1])
    for number, index, after in call.pictures():
        assert indices[number] == index
        assert abs(after - (251 - luma(index))) <= TOLERANCE
    # The camera was asked for a key frame: the file has no other than its first.
    assert any(index == 0 and number % COUNT for number, index in indices.items())


@pytest.mark.parametrize("keys", [True, False], ids=["same key", "another key"])
def test_a_call_goes_on_while_the_server_is_replaced(go_programs, tmp_path, keys):
    address = f"unix:{tmp_path}/socket"
    options = ["--listen", address]
    if keys:
        (tmp_path / "keys").write_text("test:" + "A" * 43 + "=\n")
        options += ["--resume-keys-file", tmp_path / "keys"]
    with ExitStack() as stack:
        first = stack.enter_context(Server(*options))
        call = stack.enter_context(Call(go_programs, tmp_path, address, ""))
        call.wait_for("shown .*")
        call.send("select " + INVERT)
        call.wait_for(r"accepted \d+")
        call.wait_for(r"outcome \d+ \d+ FILTERED \d+")
        first.process.kill()
        first.process.wait()
        call.wait_for("lost .*")
        # Frames are still shown, without a filter, from a key frame on.
        captured = int(call.wait_for(r"captured (\d+) \d+")[1])
        unfiltered = 0
        while unfiltered < captured:
            unfiltered = int(call.wait_for(r"shown (\d+) .*")[1])
        stack.enter_context(Server(*options))
        call.wait_for("reopened")
        last = int(call.wait_for(r"outcome \d+ (\d+) FILTERED \d+")[1])
        call.wait_for(rf"shown {last} .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    after = {number: (index, value) for number, index, value in call.pictures()}
    # The selection is in force again, not the pipeline that opened the first session.
    index, value = after[last]
    assert abs(value - (251 - luma(index))) <= TOLERANCE
    index, value = after[unfiltered]
    assert abs(value - luma(index)) <= TOLERANCE
    kinds = {number: kind for number, kind, _ in call.shown()}
    assert kinds[min(number for number in kinds if number > unfiltered and number >= last)] == "key"


def test_a_request_of_the_receiver_gets_a_key_frame(go_programs, server, tmp_path):
    with Call(go_programs, tmp_path, server.addresses["unix"]) as call:
        for _ in range(20):
            call.wait_for("shown .*")
        # Key frames of the camera do not make key frames of the result.
        assert [kind for _, kind, _ in call.shown()].count("key") == 1
        call.send("refresh")
        call.wait_for(r"shown \d+ key \d+")
        call.send("end")
        assert call.finish() == 0, call.tail()
    assert len(call.pictures()) == len(call.shown())


def test_the_server_asks_the_sender_for_a_key_frame(go_programs, server, tmp_path):
    video = encode("VP8", keys=COUNT)
    with Call(go_programs, tmp_path, server.addresses["unix"], video=video) as call:
        for _ in range(3):
            call.wait_for("shown .*")
        call.send("pause")
        call.wait_for(r"dropped \d+ \d+ PAUSED")
        call.send("resume")
        call.wait_for(r"outcome \d+ \d+ FILTERED \d+")
        call.wait_for("shown .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    indices = call.indices()
    assert any(index == 0 and number % COUNT for number, index in indices.items())
    assert all(indices[number] == index for number, index, _ in call.pictures())


def test_the_receivers_estimate_sets_the_bit_rate(go_programs, server, tmp_path):
    video = encode("VP8", is_noise=True)
    with Call(go_programs, tmp_path, server.addresses["unix"], video=video) as call:
        for _ in range(30):
            call.wait_for("shown .*")
        call.send("estimate 1500000")
        for _ in range(30):
            call.wait_for("shown .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    sizes = [size for _, kind, size in call.shown() if kind == "delta"]
    assert np.mean(sizes[-15:]) > 2 * np.mean(sizes[:25]), sizes


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"RIFF" + bytes(60), "is not an IVF file"),
        (ivf([b"x"], b"VP90", 15), 'the codec is "VP90"; it must be VP80 or H264'),
        (ivf([b"x"], b"VP80", 500), "the frame rate is 500/1; it must be 1 to 120"),
        (ivf([b"\x01"], b"VP80", 15), "must begin with a key frame"),
        (ivf([], b"VP80", 15), "must begin with a key frame"),
        (ivf([bytes(9)], b"VP80", 15)[:-1], "ends within a frame"),
    ],
)
def test_an_invalid_file_ends_the_program(go_programs, tmp_path, file, message):
    (tmp_path / "in.ivf").write_bytes(file)
    command = [go_programs / "call", "127.0.0.1:1", "", tmp_path / "in.ivf", tmp_path / "out.ivf"]
    finished = subprocess.run(command, capture_output=True, timeout=60, check=False, text=True)
    assert finished.returncode == 1
    assert message in finished.stderr


def test_an_invalid_pipeline_ends_the_program(go_programs, server, tmp_path):
    (tmp_path / "in.ivf").write_bytes(encode("VP8"))
    files = [tmp_path / "in.ivf", tmp_path / "out.ivf"]
    finished = subprocess.run(
        [go_programs / "call", server.addresses["unix"], "sepiaTome", *files],
        capture_output=True, timeout=60, check=False, text=True,
    )
    assert finished.returncode == 1
    assert "InvalidArgument" in finished.stderr and "did you mean sepiaTone?" in finished.stderr


def test_the_packets_of_a_track_are_joined_to_frames(go_programs):
    finished = subprocess.run(
        [go_programs / "bridge.test"], capture_output=True, timeout=60, check=False, text=True
    )
    assert finished.returncode == 0, finished.stdout


def test_the_sources_have_the_format_of_gofmt(go_programs):
    finished = subprocess.run(
        ["gofmt", "-l", REPOSITORY / "Examples/go"],
        capture_output=True, timeout=60, check=True, text=True,
    )
    assert finished.stdout == ""


def test_the_readme_shows_code_of_the_example():
    folder = REPOSITORY / "Examples/go"
    code = [" ".join(path.read_text().split()) for path in folder.rglob("*.go")]
    shown = re.findall(r"```go\n(.*?)```", (folder / "README.md").read_text(), flags=re.DOTALL)
    assert shown
    for snippet in shown:
        assert any(" ".join(snippet.split()) in each for each in code), snippet
