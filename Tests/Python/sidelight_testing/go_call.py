"""The call of `Examples/go`: its input as IVF files with numbered pictures, and its events."""

import re
import subprocess
from pathlib import Path

import numpy as np

from .debian import require_packages
from .programs import Program

# The number of every picture of the file is drawn in its top rows, which the filter leaves.
INVERT = "colorInvert @region(0, 0.25h, 1w, 0.75h)"
FRAMES_PER_SECOND = 15
WIDTH, HEIGHT, COUNTER_HEIGHT, COUNTER_BITS = 320, 180, 44, 16
COUNT = 60
DARK, LIGHT = 40, 200
# Video is lossy, also for flat pictures, and they are encoded twice.
TOLERANCE = 4


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
