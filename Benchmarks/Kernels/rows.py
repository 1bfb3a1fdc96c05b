"""The measured rows, their peers and their targets."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Target:
    """A ratio of two medians of one run.

    `theirs / ours >= limit` if `at_least`, otherwise `ours / theirs <= limit`. The other median is of
    `peer`, `row` (`None`: the same row), `threads` ("1" or "all") and `ring` ("hot" or "cold")."""

    peer: str
    limit: float
    threads: str = "1"
    ring: str = "hot"
    at_least: bool = True
    row: str | None = None


def ahead(*peers: str) -> list[Target]:
    """Targets of being faster than every peer, with one thread and with all."""
    return [Target(peer, 1, threads) for peer in peers for threads in ("1", "all")]


def twice(*peers: str) -> list[Target]:
    """Targets of being twice as fast as every peer with one thread, and faster with all."""
    return [
        Target(peer, limit, threads) for peer in peers for limit, threads in ((2, "1"), (1, "all"))]


def copies(limit: float, ring: str) -> Target:
    """The target of at most `limit` times the copy of a BGRA frame."""
    return Target("loops", limit, "1", ring, at_least=False, row="memcpy")


@dataclass(frozen=True)
class Row:
    key: str
    title: str
    targets: list[Target] = field(default_factory=list)
    #: Standard deviation where the result is compared with an exact Gaussian.
    sigma: float | None = None


NEAR = ("opencv", "ffmpeg", "vips")
ROWS = [
    Row("matrix-bgra", "one colour matrix, BGRA", [copies(1.5, "hot"), copies(1, "cold")]),
    Row("matrix-i420", "one colour matrix, I420"),
    Row("matrix-straight", "one colour matrix, BGRA with straight alpha"),
    Row("matrix-premultiplied", "one colour matrix, BGRA with premultiplied alpha"),
    Row("matrix-rgb24", "one colour matrix, RGB24"),
    Row("five-bgra", "five stages, BGRA", [
        copies(1.6, "cold"), Target("opencv", 20), Target("ffmpeg", 45), Target("vips", 80)]),
    Row("five-i420", "five stages, I420, never converted", [copies(1.2, "cold")]),
    Row("five-nv12", "five stages, NV12, never converted"),
    Row("chain", "gamma, glow, a custom kernel", [Target("loops", 1.4, at_least=False)]),
    Row("chain-i420", "the same, I420"),
    Row("curve", "tone curve", [Target("ffmpeg", 1)]),
    Row("balance", "colour balance", [Target("ffmpeg", 1)]),
    Row("white-balance", "automatic white balance, BGRA", [
        *ahead("opencv"), Target("sidelight", 1.3, at_least=False, row="matrix-bgra")]),
    Row("white-balance-i420", "automatic white balance, I420"),
    Row("low-light", "low light: noise reduction and gain, BGRA", ahead("opencv")),
    Row("luma-key", "luma key, BGRA with straight alpha"),
    Row("glow", "glow", [Target("loops", 1.4, at_least=False)]),
    Row("glow-i420", "glow, I420"),
    Row("kernel-glow", "glow as a kernel from text", [
        Target("ours", 1.3, at_least=False, row="glow"), Target("ffmpeg", 20)]),
    Row("kernel-glow-i420", "the same, I420", [
        Target("ours", 1.3, at_least=False, row="glow-i420")]),
    Row("vibrance", "vibrance"),
    Row("kernel-vibrance", "vibrance as a kernel from text", [
        Target("ours", 1.3, at_least=False, row="vibrance")]),
    Row("kernel-sobel", "edges as a kernel from text", [Target("ffmpeg", 20)]),
    Row("kernel-mean", "mean of 3x3 pixels as a kernel from text", [
        Target("opencv", 2, at_least=False), Target("ffmpeg", 20)]),
    Row("kernel-swirl", "a swirl as a kernel from text", [
        Target("opencv", 1.5, at_least=False), Target("ffmpeg", 20)]),
    Row("gaussian10", "Gaussian, sigma 10", [Target("opencv", 20)], sigma=10),
    Row("gaussian25", "Gaussian, sigma 25", [Target("opencv", 100)], sigma=25),
    Row("gaussian10-i420", "Gaussian, sigma 10, I420"),
    Row("gaussian10-sepia", "Gaussian, sigma 10, then sepia"),
    Row("unsharp", "unsharp mask, radius 2.5", twice(*NEAR)),
    Row("convolution", "convolution 3x3", twice(*NEAR)),
    Row("motion0", "motion blur, radius 20, angle 0", ahead(*NEAR)),
    Row("motion30", "motion blur, radius 20, 30 degrees", twice(*NEAR)),
    Row("pixellate", "pixellate 12", ahead(*NEAR)),
    Row("kernel-hole", "the hole distortion below as a kernel from text, without its hole"),
    Row("hole", "hole distortion, radius 150", twice("opencv", "vips")),
    Row("zoom", "zoom blur, amount 20", twice("opencv")),
    Row("bloom", "bloom, radius 10", ahead("opencv", "vips")),
    Row("area-average", "mean of all pixels"),
    Row("area-average-i420", "the same, I420"),
    Row("area-histogram", "histogram"),
    Row("area-stops", "histogram by stops"),
    Row("area-bounds", "bounding box of red"),
    Row("column-average", "mean of columns"),
    Row("otsu", "threshold by Otsu's method"),
    Row("k-means", "8 means of clusters of colours, 5 passes"),
    Row("median", "median 3x3"),
    Row("crop", "crop to 1280x720"),
    Row("scale-down", "scale to 1280x720"),
    Row("scale-up", "scale to 2560x1440"),
    Row("affine", "turn by 11.5 degrees", twice(*NEAR)),
    Row("cube", "colour cube 33^3, tetrahedral", twice("ffmpeg")),
    Row("text-i420", "a name plate of two lines, I420", ahead("ffmpeg")),
    Row("text-bgra", "the same, BGRA", ahead("ffmpeg")),
    Row("timecode-i420", "a timecode that changes with each frame, I420"),
    Row("i420-bgra", "I420 to BGRA", [Target("libyuv", 1)]),
    Row("bgra-i420", "BGRA to I420", [Target("libyuv", 1)]),
    Row("nv12-bgra", "NV12 to BGRA", [Target("libyuv", 1)]),
    Row("bgra-nv12", "BGRA to NV12", [Target("libyuv", 1)]),
    Row("i420-nv12", "I420 to NV12"),
    Row("rgb24-bgra", "RGB24 to BGRA"),
    Row("bgra-rgb24", "BGRA to RGB24"),
]
