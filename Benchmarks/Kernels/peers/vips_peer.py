"""Every operation with vips: one pipeline from memory to memory, 8 bits in and out.
VIPS_CONCURRENCY sets the number of threads when the process starts."""

import numpy as np
import pyvips

from peer import HEIGHT, WIDTH, Work, serve

pyvips.cache_set_max(0)


def image(array: np.ndarray) -> pyvips.Image:
    height, width, bands = array.shape
    return pyvips.Image.new_from_memory(array, width, height, bands, "uchar")


def finish(result: pyvips.Image) -> np.ndarray:
    if result.format != "uchar":
        result = result.cast("uchar")
    return np.frombuffer(result.write_to_memory(), np.uint8)


def bgra(rows) -> list:
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = np.asarray(rows)[::-1, ::-1]
    matrix[3, 3] = 1
    return matrix.tolist()


SEPIA = np.array([[.3588, .7044, .1368], [.299, .587, .114], [.2392, .4696, .0912]])
SEPIA_8 = np.eye(3) * .2 + SEPIA * .8
WARMER = np.array([[1.08, .02, 0], [0, 1, 0], [0, 0, .85]])
CONTROLS = (np.eye(3) * 1.2 - .2 * np.tile([.2126, .7152, .0722], (3, 1))) * 1.1

y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
distance = np.hypot(x - WIDTH / 2, y - HEIGHT / 2) / np.hypot(WIDTH / 2, HEIGHT / 2)
SHADE = pyvips.Image.new_from_array((1 - .6 * distance**2).astype(np.float32)).copy_memory()
NOISE = pyvips.Image.new_from_array(
    np.random.default_rng(1).uniform(.97, 1, (HEIGHT, WIDTH)).astype(np.float32)).copy_memory()


def five(source):
    shaded = source.recomb(bgra(SEPIA_8)).recomb(bgra(WARMER)) * SHADE
    return shaded.recomb(bgra(CONTROLS)).linear(1, [-12.75, -12.75, -12.75, 0]) * NOISE


def padded(source, by):
    return source.embed(by, by, WIDTH + 2 * by, HEIGHT + 2 * by, extend="copy")


def gaussian(sigma):
    def run(source):
        by = int(3 * sigma)
        blurred = padded(source, by).gaussblur(sigma, min_ampl=.02, precision="integer")
        return blurred.crop(by, by, WIDTH, HEIGHT)

    return run


def unsharp(source):
    return source * 1.5 - source.gaussblur(2.5, min_ampl=.02, precision="integer") * .5


CROSS = [[0, -1, 0], [-1, 5, -1], [0, -1, 0]]


def line(degrees):
    kernel = np.zeros((41, 41), np.int32)
    angle = np.radians(degrees)
    for step in np.linspace(-20, 20, 41):
        kernel[round(20 - step * np.sin(angle)), round(20 + step * np.cos(angle))] = 1
    if degrees == 0:
        kernel = kernel[20:21]
    mask = pyvips.Image.new_from_array(kernel.tolist(), scale=int(kernel.sum()))
    return lambda source: source.conv(mask, precision="integer")


def pixellate(source):
    return source.shrink(12, 12).cast("uchar").zoom(12, 12)


from_center = np.hypot(x - WIDTH / 2, y - HEIGHT / 2) + 1e-6
pull = np.maximum(0, 1 - 150 / from_center)
index = np.dstack([
    (x - WIDTH / 2) * pull + WIDTH / 2, (y - HEIGHT / 2) * pull + HEIGHT / 2]).astype(np.float32)
HOLE = pyvips.Image.new_from_memory(index.tobytes(), WIDTH, HEIGHT, 2, "float")
LINEAR = pyvips.Interpolate.new("bilinear")


def hole(source):
    return source.mapim(HOLE, interpolate=LINEAR)


def bloom(source):
    difference = source.gaussblur(10, min_ampl=.02, precision="integer") - source
    return source + (difference > 0).ifthenelse(difference, 0) * .5


def affine(source):
    return source.affine(
        [.98, -.2, .2, .98], interpolate=LINEAR, oarea=[0, 0, WIDTH, HEIGHT])


PIPELINES = {
    "matrix-bgra": ("recomb", lambda source: source.recomb(bgra(SEPIA))),
    "five-bgra": ("recomb, recomb, *, recomb, linear, * in floats", five),
    "gaussian10": ("gaussblur, integer, min_ampl .02, edges copied", gaussian(10)),
    "gaussian25": ("gaussblur, integer, min_ampl .02, edges copied", gaussian(25)),
    "unsharp": ("gaussblur, linear combination in floats", unsharp),
    "convolution": ("conv, integer", lambda source: source.conv(CROSS, precision="integer")),
    "motion0": ("conv with a row of 41, integer", line(0)),
    "motion30": ("conv with a line of 41, integer", line(30)),
    "pixellate": ("shrink, zoom", pixellate),
    "hole": ("mapim, bilinear", hole),
    "bloom": ("gaussblur, ifthenelse, linear combination", bloom),
    "median": ("median", lambda source: source.median(3)),
    "crop": ("crop", lambda source: source.crop(320, 180, 1280, 720)),
    "scale-down": ("reduce, linear", lambda source: source.reduce(1.5, 1.5, kernel="linear")),
    "scale-up": ("affine, bilinear", lambda source: source.affine(
        [4 / 3, 0, 0, 4 / 3], interpolate=LINEAR)),
    "affine": ("affine, bilinear", affine),
}
WORKS = {
    key: Work("bgra", says, lambda frame, slot, run=run: finish(run(image(frame))))
    for key, (says, run) in PIPELINES.items()
}

if __name__ == "__main__":
    major, minor, patch = (pyvips.version(part) for part in range(3))
    serve(f"vips {major}.{minor}.{patch}", WORKS, lambda threads: None)
