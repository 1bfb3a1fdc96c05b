"""Every operation with OpenCV: results into existing arrays, vector code and threads of its wheel,
maps of remap computed beforehand."""

import cv2
import numpy as np

from peer import HEIGHT, WIDTH, Work, serve

TARGETS: dict = {}
EDGE = cv2.BORDER_REPLICATE


def target(slot: int, shape=(HEIGHT, WIDTH, 4), name="") -> np.ndarray:
    """Returns an array for results, which is allocated once."""
    key = (slot, shape, name)
    if key not in TARGETS:
        TARGETS[key] = np.ones(shape, np.uint8)
    return TARGETS[key]


def bgra(rows, bias=(0, 0, 0)) -> np.ndarray:
    """Converts a colour matrix for RGB into one for `transform`."""
    matrix = np.zeros((4, 5), np.float32)
    matrix[:3, :3] = np.asarray(rows, np.float32)[::-1, ::-1]
    matrix[:3, 4] = bias
    matrix[3, 3] = 1
    return matrix


SEPIA = np.array([[.3588, .7044, .1368], [.299, .587, .114], [.2392, .4696, .0912]])
SEPIA_8 = np.eye(3) * .2 + SEPIA * .8
WARMER = np.array([[1.08, .02, 0], [0, 1, 0], [0, 0, .85]])
LUMA = np.array([.2126, .7152, .0722])
CONTROLS = (np.eye(3) * 1.2 - .2 * np.tile(LUMA, (3, 1))) * 1.1

y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
distance = np.hypot(x - WIDTH / 2, y - HEIGHT / 2) / np.hypot(WIDTH / 2, HEIGHT / 2)
SHADE = np.repeat((255 * (1 - .6 * distance**2)).astype(np.uint8)[..., None], 4, 2)
SHADE[..., 3] = 255
NOISE = np.repeat(
    np.random.default_rng(1).integers(247, 256, (HEIGHT, WIDTH, 1), np.uint8), 4, 2)
NOISE[..., 3] = 255


def matrix(frame, slot):
    return cv2.transform(frame, bgra(SEPIA), target(slot))


def five(frame, slot):
    out, between = target(slot), target(0, name="between")
    cv2.transform(frame, bgra(SEPIA_8), between)
    cv2.transform(between, bgra(WARMER), out)
    cv2.multiply(out, SHADE, between, 1 / 255)
    cv2.transform(between, bgra(CONTROLS, [-12.75] * 3), out)
    return cv2.multiply(out, NOISE, out, 1 / 255)


def five_yuv(frame, slot):
    pixels = cv2.cvtColor(frame, cv2.COLOR_YUV2BGRA_I420, target(0, name="rgb"))
    return cv2.cvtColor(
        five(pixels, 0), cv2.COLOR_BGRA2YUV_I420, target(slot, (HEIGHT * 3 // 2, WIDTH)))


def white_balance(frame, slot):
    """Grey world on a small grid."""
    means = cv2.resize(frame, (64, 36), interpolation=cv2.INTER_NEAREST).mean((0, 1))[2::-1]
    return cv2.transform(frame, bgra(np.diag(means @ LUMA / means)), target(slot))


def low_light(frame, slot):
    """A bilateral filter of 5x5 pixels, and a gamma by the mean on a small grid."""
    mean = cv2.resize(frame, (64, 36), interpolation=cv2.INTER_NEAREST)[..., :3].mean() / 255
    gamma = np.log(.38) / np.log(mean)
    curve = np.rint(255 * (np.arange(256) / 255) ** gamma).astype(np.uint8)
    colors = cv2.cvtColor(frame, cv2.COLOR_BGRA2BGR, target(0, (HEIGHT, WIDTH, 3), "colors"))
    smooth = cv2.bilateralFilter(
        colors, 5, 20, 3, target(0, (HEIGHT, WIDTH, 3), "smooth"), borderType=EDGE)
    cv2.LUT(smooth, curve, colors)
    return cv2.cvtColor(colors, cv2.COLOR_BGR2BGRA, target(slot))


def gaussian(sigma):
    return lambda frame, slot: cv2.GaussianBlur(
        frame, (0, 0), sigma, target(slot), borderType=EDGE)


def gaussian_i420(frame, slot):
    out, half = target(slot, (HEIGHT * 3 // 2, WIDTH)), (HEIGHT // 2, WIDTH // 2)
    cv2.GaussianBlur(frame[:HEIGHT], (0, 0), 10, out[:HEIGHT], borderType=EDGE)
    planes, results = frame[HEIGHT:].reshape(2, *half), out[HEIGHT:].reshape(2, *half)
    for plane in range(2):
        cv2.GaussianBlur(planes[plane], (0, 0), 5, results[plane], borderType=EDGE)
    return out


def unsharp(frame, slot):
    blurred = cv2.GaussianBlur(frame, (0, 0), 2.5, target(0, name="between"), borderType=EDGE)
    return cv2.addWeighted(frame, 1.5, blurred, -.5, 0, target(slot))


CROSS = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], np.float32)


def convolution(frame, slot):
    return cv2.filter2D(frame, -1, CROSS, target(slot), borderType=EDGE)


def line_kernel(degrees: float) -> np.ndarray:
    """A line of 41 pixels through the middle."""
    kernel = np.zeros((41, 41), np.float32)
    angle = np.radians(degrees)
    for step in np.linspace(-20, 20, 401):
        column, row = 20 + step * np.cos(angle), 20 - step * np.sin(angle)
        kernel[round(row), round(column)] += 1
    return kernel / kernel.sum()


LINE = line_kernel(30)


def pixellate(frame, slot):
    small = cv2.resize(
        frame, (WIDTH // 12, HEIGHT // 12), target(0, (HEIGHT // 12, WIDTH // 12, 4)),
        interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (WIDTH, HEIGHT), target(slot), interpolation=cv2.INTER_NEAREST)


from_center = np.hypot(x - WIDTH / 2, y - HEIGHT / 2) + 1e-6
pull = np.maximum(0, 1 - 150 / from_center)
HOLE = cv2.convertMaps(
    (x - WIDTH / 2) * pull + WIDTH / 2, (y - HEIGHT / 2) * pull + HEIGHT / 2, cv2.CV_16SC2)


def hole(frame, slot):
    return cv2.remap(frame, *HOLE, cv2.INTER_LINEAR, target(slot), borderMode=EDGE)


t = np.clip(from_center / (HEIGHT / 2), 0, 1)
turn = 3 * (1 - t * t * (3 - 2 * t))
SWIRL = cv2.convertMaps(
    ((x - WIDTH / 2) * np.cos(turn) - (y - HEIGHT / 2) * np.sin(turn) + WIDTH / 2).astype(np.float32),
    ((x - WIDTH / 2) * np.sin(turn) + (y - HEIGHT / 2) * np.cos(turn) + HEIGHT / 2).astype(np.float32),
    cv2.CV_16SC2)


def swirl(frame, slot):
    return cv2.remap(frame, *SWIRL, cv2.INTER_LINEAR, target(slot), borderMode=EDGE)


MEAN = np.full((3, 3), 1 / 9, np.float32)


def mean(frame, slot):
    return cv2.filter2D(frame, -1, MEAN, target(slot), borderType=EDGE)


def zoom(frame, slot):
    """Every step doubles the points of the ray: six steps make 64."""
    out, between = target(slot), target(0, name="between")
    np.copyto(out, frame)
    for step in range(6):
        shrink = 1 - .2 / 2 ** (step + 1)
        turn = np.array([[shrink, 0, WIDTH / 2 * (1 - shrink)],
                         [0, shrink, HEIGHT / 2 * (1 - shrink)]])
        cv2.warpAffine(out, turn, (WIDTH, HEIGHT), between,
                       cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, EDGE)
        cv2.addWeighted(out, .5, between, .5, 0, out)
    return out


def bloom(frame, slot):
    """in + .5 max(0, blur(in) - in)."""
    between = cv2.GaussianBlur(frame, (0, 0), 10, target(0, name="between"), borderType=EDGE)
    cv2.subtract(between, frame, between)
    return cv2.addWeighted(frame, 1, between, .5, 0, target(slot))


ROTATION = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 11.5, 1)


def affine(frame, slot):
    return cv2.warpAffine(
        frame, ROTATION, (WIDTH, HEIGHT), target(slot), cv2.INTER_LINEAR)


def resize(width, height, how):
    return lambda frame, slot: cv2.resize(
        frame, (width, height), target(slot, (height, width, 4)), interpolation=how)


def convert(code, shape):
    return lambda frame, slot: cv2.cvtColor(frame, code, target(slot, shape))


PLANES = (HEIGHT * 3 // 2, WIDTH)
PIXELS = (HEIGHT, WIDTH, 4)
WORKS = {
    "matrix-bgra": Work("bgra", "transform", matrix),
    "five-bgra": Work("bgra", "transform, transform, multiply, transform, multiply", five),
    "five-i420": Work("i420", "cvtColor, the same five, cvtColor", five_yuv),
    "white-balance": Work("bgra", "resize to 64x36, mean, transform", white_balance),
    "low-light": Work("dark-bgra", "resize, mean, bilateralFilter 5x5, LUT", low_light),
    "gaussian10": Work("bgra", "GaussianBlur", gaussian(10)),
    "gaussian25": Work("bgra", "GaussianBlur", gaussian(25)),
    "gaussian10-i420": Work("i420", "GaussianBlur of each plane", gaussian_i420),
    "unsharp": Work("bgra", "GaussianBlur, addWeighted", unsharp),
    "convolution": Work("bgra", "filter2D", convolution),
    "motion0": Work(
        "bgra", "blur 41x1",
        lambda frame, slot: cv2.blur(frame, (41, 1), target(slot), borderType=EDGE)),
    "motion30": Work(
        "bgra", "filter2D with a line of 41 pixels",
        lambda frame, slot: cv2.filter2D(frame, -1, LINE, target(slot), borderType=EDGE)),
    "pixellate": Work("bgra", "resize by area, resize by nearest", pixellate),
    "kernel-mean": Work("bgra", "filter2D", mean),
    "kernel-swirl": Work("bgra", "remap with fixed-point maps", swirl),
    "hole": Work("bgra", "remap with fixed-point maps", hole),
    "zoom": Work("bgra", "six times warpAffine and addWeighted", zoom),
    "bloom": Work("bgra", "GaussianBlur, subtract, addWeighted", bloom),
    "median": Work("bgra", "medianBlur", lambda frame, slot: cv2.medianBlur(frame, 3, target(slot))),
    "crop": Work(
        "bgra", "copy of a slice",
        lambda frame, slot: cv2.copyTo(
            frame[180:900, 320:1600], None, target(slot, (720, 1280, 4)))),
    "scale-down": Work("bgra", "resize by area", resize(1280, 720, cv2.INTER_AREA)),
    "scale-up": Work("bgra", "resize, linear", resize(2560, 1440, cv2.INTER_LINEAR)),
    "affine": Work("bgra", "warpAffine", affine),
    "i420-bgra": Work("i420", "cvtColor", convert(cv2.COLOR_YUV2BGRA_I420, PIXELS)),
    "bgra-i420": Work("bgra", "cvtColor", convert(cv2.COLOR_BGRA2YUV_I420, PLANES)),
    "nv12-bgra": Work("nv12", "cvtColor", convert(cv2.COLOR_YUV2BGRA_NV12, PIXELS)),
}

if __name__ == "__main__":
    serve(f"OpenCV {cv2.__version__}", WORKS, cv2.setNumThreads)
