"""Small Y4M videos of noise."""

from . import images

WIDTH, HEIGHT = 54, 38
HEADER = b"YUV4MPEG2 W54 H38 F25:1 Ip A1:1 C420jpeg\n"
FRAME_BYTES = WIDTH * HEIGHT * 3 // 2


def pictures(count: int) -> list:
    return [images.noise("I420", WIDTH, HEIGHT, seed=seed) for seed in range(count)]


def y4m(frames: list) -> bytes:
    return HEADER + b"".join(b"FRAME\n" + frame.inline for frame in frames)


def frames_of(video: bytes) -> list[bytes]:
    """The frames of a Y4M video, without their headers."""
    header, _, rest = video.partition(b"\n")
    assert header.startswith(b"YUV4MPEG2 ") and {b"W54", b"H38", b"F25:1"} <= set(header.split())
    step = len(b"FRAME\n") + FRAME_BYTES
    assert len(rest) % step == 0
    starts = range(0, len(rest), step)
    assert all(rest[start:].startswith(b"FRAME\n") for start in starts)
    return [rest[start + len(b"FRAME\n") : start + step] for start in starts]
