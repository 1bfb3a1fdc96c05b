"""The formulas of Core Image's distortions, tiles and projections, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Positions are
complex numbers, in pixels from the top left: x to the right, y down. Pictures are rows by columns by
red, green and blue, in levels of 0-255.
"""

import math

import numpy as np

from .effect_oracles import hashed
from .formulas import REC_709, formula_of


def grid(colors: np.ndarray) -> np.ndarray:
    """The centres of the pixels."""
    y, x = np.mgrid[0 : colors.shape[0], 0 : colors.shape[1]] + 0.5
    return x + 1j * y


def point(pair) -> complex:
    return complex(*pair)


def turn(angle: float) -> complex:
    """The factor that rotates clockwise, as y points down."""
    return complex(math.cos(angle), math.sin(angle))


def read(colors: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The colours at positions, linear between pixels; the edges repeat."""
    height, width = colors.shape[:2]
    x = np.clip(places.real - 0.5, 0, width - 1)
    y = np.clip(places.imag - 0.5, 0, height - 1)
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    u, v = (x - left)[..., None], (y - top)[..., None]
    upper = colors[top, left] * (1 - u) + colors[top, right] * u
    lower = colors[bottom, left] * (1 - u) + colors[bottom, right] * u
    return upper * (1 - v) + lower * v


def warp(source):
    """A filter that reads pixels at other positions: `source` returns them, given the pixels' and
    the size of the picture."""

    def formula(colors):
        height, width = colors.shape[:2]
        return read(colors, source(grid(colors), complex(width, height)))

    return formula


def covered(places: np.ndarray, size: complex) -> np.ndarray:
    """The share of a pixel at a position that is inside the picture."""
    edges = [places.real, size.real - places.real, places.imag, size.imag - places.imag]
    x, y = np.minimum(*edges[:2]), np.minimum(*edges[2:])
    return (np.clip(x + 0.5, 0, 1) * np.clip(y + 0.5, 0, 1))[..., None]


def modulo(z: np.ndarray, period: complex) -> np.ndarray:
    return np.mod(z.real, period.real) + 1j * np.mod(z.imag, period.imag)


# Magnified errors of positions: a pixel may lie on the other side of a jump.
STEEP = {"tolerance": 2, "tolerance_at_limits": 6}


@formula_of("bumpDistortionLinear", **STEEP)
def bump_linear(center, radius: float, angle: float, scale: float):
    def source(z, size):
        across = turn(angle)
        u = ((z - point(center)) * across.conjugate()).real
        t = np.clip(1 - np.abs(u) / max(radius, 0.5), 0, 1)
        return z - across * u * scale * (3 * t**2 - 2 * t**3)

    return warp(source)


@formula_of("circleSplashDistortion", **STEEP)
def circle_splash(center, radius: float):
    def source(z, size):
        d = z - point(center)
        return point(center) + d * np.minimum(1, radius / np.maximum(np.abs(d), 1e-3))

    return warp(source)


@formula_of("circularWrap", **STEEP)
def circular_wrap(center, radius: float, angle: float):
    def formula(colors):
        height, width = colors.shape[:2]
        d = grid(colors) - point(center)
        # Clockwise from the top.
        turns = np.mod((np.arctan2(d.real, -d.imag) - angle) / (2 * math.pi), 1)
        y = height - np.abs(d) + radius
        cover = covered(width / 2 + 1j * y, complex(width, height))
        return read(colors, turns * width + 1j * y) * cover

    return formula


@formula_of("glassLozenge", **STEEP)
def glass_lozenge(point0, point1, radius: float, refraction: float):
    def source(z, size):
        start, line = point(point0), point(point1) - point(point0)
        t = ((z - start) * line.conjugate()).real / max(abs(line) ** 2, 1e-3)
        foot = start + line * np.clip(t, 0, 1)
        d = z - foot
        r = np.abs(d) / max(radius, 0.5)
        small = 1 / max(refraction, 0.1)
        return foot + d * np.where(r < 1, small + (1 - small) * r**2, 1)

    return warp(source)


@formula_of("lightTunnel", **STEEP)
def light_tunnel(center, rotation: float, radius: float):
    def source(z, size):
        d = z - point(center)
        q = radius / np.maximum(np.abs(d), 1e-3)
        mirrored = point(center) + d * q**2 * np.exp(1j * rotation * (1 - q))
        return np.where(np.abs(d) > radius, mirrored, z)

    return warp(source)


@formula_of("torusLensDistortion", **STEEP)
def torus_lens(center, radius: float, width: float, refraction: float):
    def source(z, size):
        d = z - point(center)
        r = np.abs(d)
        half = max(width / 2, 0.5)
        t = (r - radius) / half
        bent = 1 - 1 / max(refraction, 0.1)
        shift = t * np.clip(1 - t**2, 0, 1) * bent * width / 2
        return z - d * shift / np.maximum(r, 1e-3)

    return warp(source)


@formula_of("vortexDistortion", tolerance=4, tolerance_at_limits=255)
def vortex(center, radius: float, angle: float):
    def source(z, size):
        d = z - point(center)
        t = np.clip(1 - np.abs(d) / max(radius, 0.5), 0, 1)
        return point(center) + d * np.exp(1j * angle * t**2)

    return warp(source)


def nine_part(breakpoint0, breakpoint1, grow_amount, inner):
    def along(p, first, second, grow, inner):
        middle = max(second - first, 1)
        inside = first + inner(p - first, middle, grow)
        result = np.where(p < first + middle + grow, inside, p - grow)
        return np.where(p < first, p, result)

    def source(z, size):
        x = along(z.real, breakpoint0[0], breakpoint1[0], grow_amount[0], inner)
        return x + 1j * along(z.imag, breakpoint0[1], breakpoint1[1], grow_amount[1], inner)

    return warp(source)


@formula_of("ninePartStretched", **STEEP)
def nine_part_stretched(breakpoint0, breakpoint1, grow_amount):
    return nine_part(
        breakpoint0, breakpoint1, grow_amount,
        lambda p, middle, grow: p * middle / (middle + grow),
    )


@formula_of("ninePartTiled", **STEEP)
def nine_part_tiled(breakpoint0, breakpoint1, grow_amount):
    return nine_part(
        breakpoint0, breakpoint1, grow_amount, lambda p, middle, grow: np.mod(p, middle)
    )


# Tiles: a function folds the positions relative to the centre, turned back by the angle.


#: No edge of a tile is at the centre of a pixel.
WIDTH = {"width": 36.7}


def tile(center, angle: float, fold):
    def source(z, size):
        folded = fold((z - point(center)) / turn(angle))
        return point(center) + folded * turn(angle)

    return warp(source)


def centered(z: np.ndarray, width: float) -> np.ndarray:
    """Positions in a square around 0."""
    half = complex(width, width) / 2
    return modulo(z + half, 2 * half) - half


def reflected(values: np.ndarray, width: float) -> np.ndarray:
    """0 to a width, and back."""
    return width - np.abs(np.mod(values, 2 * width) - width)


def slanted(acute_angle: float, fold):
    """A fold of the shares along the sides of a parallelogram."""

    def apply(z):
        v = z.imag / math.sin(acute_angle)
        u = z.real - v * math.cos(acute_angle)
        u, v = fold(u), fold(v)
        return u + v * np.exp(1j * acute_angle)

    return apply


@formula_of("fourfoldTranslatedTile", fixed=WIDTH, **STEEP)
def fourfold_translated(center, angle: float, width: float, acute_angle: float):
    def fold(values):
        return np.mod(values + width / 2, width) - width / 2

    return tile(center, angle, slanted(acute_angle, fold))


@formula_of("fourfoldReflectedTile", fixed=WIDTH, **STEEP)
def fourfold_reflected(center, angle: float, width: float, acute_angle: float):
    return tile(center, angle, slanted(acute_angle, lambda each: reflected(each, width)))


@formula_of("parallelogramTile", fixed=WIDTH, **STEEP)
def parallelogram(center, angle: float, width: float, acute_angle: float):
    return tile(center, angle, slanted(acute_angle, lambda each: reflected(each, width / 2)))


@formula_of("fourfoldRotatedTile", fixed=WIDTH, **STEEP)
def fourfold_rotated(center, angle: float, width: float):
    def fold(z):
        q = centered(z, width)
        # Quarter turns bring every quarter to the one with positive x and y.
        q = np.where(q.real * q.imag < 0, q * -1j, q)
        return np.where(q.real < 0, -q, q)

    return tile(center, angle, fold)


@formula_of("eightfoldReflectedTile", fixed=WIDTH, **STEEP)
def eightfold_reflected(center, angle: float, width: float):
    def fold(z):
        x, y = reflected(z.real, width / 2), reflected(z.imag, width / 2)
        return np.maximum(x, y) + 1j * np.minimum(x, y)

    return tile(center, angle, fold)


@formula_of("glideReflectedTile", fixed=WIDTH, **STEEP)
def glide_reflected(center, angle: float, width: float):
    def fold(z):
        row = np.floor(z.imag / width)
        is_odd = np.mod(row, 2) == 1
        x = np.mod(z.real + np.where(is_odd, width / 2, 0), width)
        y = z.imag - row * width
        return x + 1j * np.where(is_odd, width - y, y) - complex(width, width) / 2

    return tile(center, angle, fold)


def in_hexagon(z: np.ndarray, width: float) -> np.ndarray:
    """Positions relative to the middle of their hexagon."""
    cell = complex(width, width * math.sqrt(3))
    near, other = modulo(z + cell / 2, cell) - cell / 2, modulo(z, cell) - cell / 2
    return np.where(np.abs(near) < np.abs(other), near, other)


def sixfold(center, angle: float, width: float, fold):
    def apply(z):
        q = in_hexagon(z, width)
        return np.abs(q) * np.exp(1j * fold(np.angle(q)))

    return tile(center, angle, apply)


def back_and_forth(angles: np.ndarray, sector: float) -> np.ndarray:
    return np.abs(np.mod(angles + sector, 2 * sector) - sector)


@formula_of("sixfoldRotatedTile", fixed=WIDTH, **STEEP)
def sixfold_rotated(center, angle: float, width: float):
    return sixfold(center, angle, width, lambda angles: np.mod(angles, math.pi / 3))


@formula_of("sixfoldReflectedTile", fixed=WIDTH, **STEEP)
def sixfold_reflected(center, angle: float, width: float):
    return sixfold(center, angle, width, lambda angles: back_and_forth(angles, math.pi / 3))


@formula_of("twelvefoldReflectedTile", fixed=WIDTH, **STEEP)
def twelvefold_reflected(center, angle: float, width: float):
    return sixfold(center, angle, width, lambda angles: back_and_forth(angles, math.pi / 6))


def in_triangles(z: np.ndarray, width: float):
    """The coordinates along two sides of triangles, in widths."""
    v = z.imag / (width * math.sqrt(3) / 2)
    return z.real / width - v / 2, v


@formula_of("triangleTile", fixed=WIDTH, **STEEP)
def triangle(center, angle: float, width: float):
    def fold(z):
        u, v = (each - np.floor(each) for each in in_triangles(z, width))
        is_lower = u + v > 1
        u, v = np.where(is_lower, 1 - u, u), np.where(is_lower, 1 - v, v)
        return (u + v * np.exp(1j * math.pi / 3)) * width

    return tile(center, angle, fold)


# `point` is a function here.
@formula_of("triangleKaleidoscope", **STEEP)
def triangle_kaleidoscope(point, size: float, rotation: float, decay: float):
    def formula(colors):
        z = (grid(colors) - complex(*point)) / turn(rotation)
        width = max(size, 1)
        u, v = in_triangles(z, width)
        i, j = np.floor(u), np.floor(v)
        f, g = u - i, v - j
        is_lower = f + g > 1
        # The corners of the triangle of each pixel, and their shares.
        corners = [
            (np.where(is_lower, i + 1, i), np.where(is_lower, j + 1, j), np.abs(1 - f - g)),
            (i + 1, j, np.where(is_lower, 1 - g, f)),
            (i, j + 1, np.where(is_lower, 1 - f, g)),
        ]
        # Reflections leave every corner's kind, which is its position in the first triangle.
        places = np.zeros_like(z)
        for column, row, share in corners:
            kind = np.mod(column - row, 3)
            places += share * np.select([kind == 1, kind == 2], [1, np.exp(1j * math.pi / 3)], 0)
        found = read(colors, complex(*point) + places * width * turn(rotation))
        return found * decay ** (np.abs(z) / width)[..., None]

    return formula


@formula_of("kaleidoscope", **STEEP)
def kaleidoscope(count: float, center, angle: float):
    def source(z, size):
        d = z - point(center)
        sector = math.pi / max(round(count), 1)
        folded = back_and_forth(np.angle(d) - angle, sector) + angle
        return point(center) + np.abs(d) * np.exp(1j * folded)

    return warp(source)


@formula_of("opTile", fixed=WIDTH, **STEEP)
def op_tile(center, scale: float, angle: float, width: float):
    def source(z, size):
        p = z - point(center)
        middle = (np.floor(p.real / width) + 1j * np.floor(p.imag / width) + 0.5 + 0.5j) * width
        return point(center) + middle + (p - middle) / turn(angle) * scale

    return warp(source)


def before(transform):
    """The positions that an affine transform moves to given ones."""
    a, b, c, d, tx, ty = transform
    matrix = np.array([[a, c], [b, d]], dtype=float)
    determinant = np.linalg.det(matrix)
    adjugate = np.array([[d, -c], [-b, a]]) / (1 if abs(determinant) < 1e-5 else determinant)

    def apply(z):
        moved = z - complex(tx, ty)
        x, y = np.einsum("ij,jyx->iyx", adjugate, np.stack([moved.real, moved.imag]))
        return x + 1j * y

    return apply


@formula_of("affineTile", tolerance=2, tolerance_at_limits=255)
def affine_tile(transform):
    return warp(lambda z, size: modulo(before(transform)(z), size))


@formula_of("affineClamp", tolerance=2, tolerance_at_limits=255)
def affine_clamp(transform):
    return warp(lambda z, size: before(transform)(z))


def projection(top_left, top_right, bottom_right, bottom_left) -> np.ndarray:
    """The projective map of the unit square to four corners: eight linear equations."""
    rows, values = [], []
    corners = (top_left, top_right, bottom_right, bottom_left)
    for (u, v), (x, y) in zip([(0, 0), (1, 0), (1, 1), (0, 1)], corners, strict=True):
        rows += [[u, v, 1, 0, 0, 0, -u * x, -v * x], [0, 0, 0, u, v, 1, -u * y, -v * y]]
        values += [x, y]
    return np.append(np.linalg.solve(rows, values), 1).reshape(3, 3)


def projected(matrix: np.ndarray, x: np.ndarray, y: np.ndarray):
    result = np.einsum("ij,jyx->iyx", matrix, np.stack([x, y, np.ones_like(x)]))
    return result[0] / result[2] + 1j * result[1] / result[2], result[2]


CORNERS = {
    "topLeft": [11.5, 4], "topRight": [50, 9], "bottomRight": [44, 40.5], "bottomLeft": [5, 33],
}


@formula_of("perspectiveCorrection", fixed=CORNERS, **STEEP)
def perspective_correction():
    def source(z, size):
        return projected(projection(*CORNERS.values()), z.real / size.real, z.imag / size.imag)[0]

    return warp(source)


def unit_square(z: np.ndarray):
    """The positions in the unit square that corners' projection moves to given ones, and whether
    they are before the eye."""
    matrix = projection(*CORNERS.values())
    found, depth = projected(np.linalg.inv(matrix), z.real, z.imag)
    return found, depth > 0


@formula_of("perspectiveTransform", fixed=CORNERS, **STEEP)
def perspective_transform():
    def formula(colors):
        size = complex(*colors.shape[1::-1])
        found, is_seen = unit_square(grid(colors))
        places = found.real * size.real + 1j * found.imag * size.imag
        return read(colors, places) * covered(places, size) * is_seen[..., None]

    return formula


@formula_of("perspectiveTile", fixed=CORNERS, **STEEP)
def perspective_tile():
    def source(z, size):
        found = modulo(unit_square(z)[0], 1 + 1j)
        return found.real * size.real + 1j * found.imag * size.imag

    return warp(source)


@formula_of("straightenFilter", **STEEP)
def straighten(angle: float):
    def source(z, size):
        c, s = abs(math.cos(angle)), abs(math.sin(angle))
        aspect = size.imag / size.real
        scale = max(c + s * aspect, c + s / aspect)
        return size / 2 + (z - size / 2) / turn(angle) / scale

    return warp(source)


@formula_of("perspectiveRotate", **STEEP)
def perspective_rotate(focal_length: float, pitch: float, yaw: float, roll: float):
    def rotation(axis, angle):
        result = np.eye(3)
        first, second = ((1, 2), (2, 0), (0, 1))[axis]
        result[first, first] = result[second, second] = math.cos(angle)
        result[first, second], result[second, first] = -math.sin(angle), math.sin(angle)
        return result

    # From the picture to the screen: pitch, yaw, roll.
    turned = rotation(2, roll) @ rotation(1, yaw) @ rotation(0, pitch)

    def formula(colors):
        size = complex(*colors.shape[1::-1])
        focus = focal_length / 36 * size.real
        z = grid(colors) - size / 2
        ray = np.stack([z.real, z.imag, np.full(z.shape, focus)])
        x, y, depth = np.einsum("ji,jyx->iyx", turned, ray)
        places = size / 2 + (x + 1j * y) * focus / np.maximum(depth, 1e-3)
        cover = covered(places, size) * (depth > 1e-3)[..., None]
        return read(colors, places) * cover

    return formula


@formula_of("hexagonalPixellate", **STEEP)
def hexagonal_pixellate(center, scale: float):
    return warp(lambda z, size: z - in_hexagon(z - point(center), scale))


def neighbors(colors: np.ndarray, x: int, y: int) -> np.ndarray:
    """The pixels at a distance to the right and down; the edges repeat."""
    rows = np.clip(np.arange(colors.shape[0]) + y, 0, colors.shape[0] - 1)
    columns = np.clip(np.arange(colors.shape[1]) + x, 0, colors.shape[1] - 1)
    return colors[rows][:, columns]


def gradients(colors: np.ndarray, across: np.ndarray) -> np.ndarray:
    """The luma's correlations with weights, and with them turned by 90 degrees."""
    y = colors @ REC_709
    reach = len(across) // 2
    result = np.zeros((*y.shape, 2))
    for row, weights in enumerate(across):
        for column, weight in enumerate(weights):
            result[..., 0] += weight * neighbors(y, column - reach, row - reach)
            result[..., 1] += weight * neighbors(y, row - reach, column - reach)
    return result


SOBEL = np.outer([1, 2, 1], [-1, 0, 1])
GABOR = np.outer([0.061, 0.242, 0.394, 0.242, 0.061], [-0.5, -1, 0, 1, 0.5])


def shown(found: np.ndarray) -> np.ndarray:
    return np.concatenate([np.abs(found), np.zeros_like(found[..., :1])], axis=-1)


# The picture between passes is rounded, and the operator adds up to eight errors.
@formula_of("sobelGradients", tolerance=4)
def sobel_gradients():
    return lambda colors: shown(gradients(colors, SOBEL))


@formula_of("gaborGradients", tolerance=4)
def gabor_gradients():
    return lambda colors: shown(gradients(colors, GABOR))


@formula_of("lineOverlay", tolerance=20, tolerance_at_limits=255)
def line_overlay(edge_intensity: float, threshold: float, contrast: float):
    def formula(colors):
        edge = np.linalg.norm(gradients(colors / 255, SOBEL), axis=-1) / 4 * edge_intensity
        line = np.clip((edge - threshold) * (1 + contrast / 10) + 0.5, 0, 1)
        # White paper in pictures without alpha.
        return 255 * np.repeat((1 - line)[..., None], 3, axis=-1)

    return formula


@formula_of("pointillize", **STEEP)
def pointillize(center, radius: float):
    def formula(colors):
        p = (grid(colors) - point(center)) / radius
        i = np.floor(p.real) + 1j * np.floor(p.imag)
        dots = []
        for y in (-1, 0, 1):
            for x in (-1, 0, 1):
                cell = i + complex(x, y)
                jitter = hashed(cell.real, cell.imag) + 1j * hashed(cell.real + 0.5, cell.imag + 0.5)
                dots.append(cell + 0.25 + 0.25j + 0.5 * jitter)
        far = np.abs(p - np.stack(dots))
        nearest = np.take_along_axis(np.stack(dots), far.argmin(axis=0)[None], axis=0)[0]
        paint = np.clip((0.55 - far.min(axis=0)) * radius + 0.5, 0, 1)[..., None]
        return 255 * (1 - paint) + paint * read(colors, point(center) + nearest * radius)

    return formula


INSET = {"insetPoint0": [18, 13], "insetPoint1": [45, 31.5]}


@formula_of("droste", fixed=INSET, tolerance=2, tolerance_at_limits=255)
def droste(strands: float, periodicity: float, rotation: float, zoom: float):
    def source(z, size):
        first, second = map(point, INSET.values())
        ratio = max(
            size.real / abs((second - first).real), size.imag / abs((second - first).imag)
        )
        # The fixed point of the map of the picture to its copy.
        center = ((first + second) / 2 * ratio - size / 2) / (ratio - 1)
        log = np.log(np.maximum(np.abs((z - center) / zoom), 1e-3))
        log = log + 1j * (np.angle(z - center) - rotation)
        # A turn around the centre is as many turns in the copy, and one step between copies.
        factor = round(periodicity) + 1j * round(strands) * math.log(ratio) / (2 * math.pi)
        w = np.exp(log * factor)
        sides = np.where(w.real > 0, w.real / (size - center).real, -w.real / center.real)
        ends = np.where(w.imag > 0, w.imag / (size - center).imag, -w.imag / center.imag)
        level = np.ceil(np.log(np.maximum(sides, ends)) / math.log(ratio))
        return center + w * ratio**-level

    return warp(source)


@formula_of("stretchCrop", fixed={"size": [100, 50]}, tolerance=2, tolerance_at_limits=3)
def stretch_crop(crop_amount: float, center_stretch_amount: float):
    wanted = 100 / 50

    def source(z, extent):
        change = wanted / (extent.real / extent.imag)
        excess = max(change, 1 / change)
        u, v = z.real / extent.real * 2 - 1, z.imag / extent.imag * 2 - 1

        def stretched(t):
            slope = min(excess ** (1 - crop_amount), 1.45)
            slope += (1 - slope) * center_stretch_amount
            return slope * t + (1 - slope) * t**3

        kept = excess**-crop_amount
        u, v = (stretched(u), v * kept) if change > 1 else (u * kept, stretched(v))
        return extent.real * (u + 1) / 2 + 1j * extent.imag * (v + 1) / 2

    return warp(source)


def keystone(focal_length: float, keeps_rows: bool, keeps_columns: bool):
    """Maps corrected corners to the given ones; rows or columns of the corners may stay."""
    given = np.array(list(CORNERS.values()), dtype=float)

    def formula(colors):
        size = np.array(colors.shape[1::-1], dtype=float)
        matrix = projection(*given)
        # The sides of the unit square in space, as a pinhole camera sees them.
        camera = np.diag([*[focal_length / 36 * size[0]] * 2, 1])
        camera[:2, 2] = size / 2
        across, down, _ = (np.linalg.inv(camera) @ matrix).T
        left, right = given[[0, 3], 0].mean(), given[[1, 2], 0].mean()
        top, bottom = given[[0, 1], 1].mean(), given[[2, 3], 1].mean()
        aspect = np.linalg.norm(down) / np.linalg.norm(across)
        stretch = np.clip(aspect * (right - left) / (bottom - top), 0.25, 4)
        wanted = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
        if keeps_rows:
            wanted[:, 1] = given[:, 1]
        if keeps_columns:
            wanted[:, 0] = given[:, 0]
        middle = np.array([left + right, top + bottom]) / 2
        wanted = middle + (wanted - middle) * [1, stretch]
        inverse = np.linalg.inv(projection(*wanted))
        z = grid(colors)
        square, near = projected(inverse, z.real, z.imag)
        places, depth = projected(matrix, square.real, square.imag)
        is_seen = ((near > 0) & (depth > 0))[..., None]
        return read(colors, places) * covered(places, complex(*size)) * is_seen

    return formula


@formula_of("keystoneCorrectionCombined", fixed=CORNERS, **STEEP)
def keystone_combined(focal_length: float):
    return keystone(focal_length, False, False)


@formula_of("keystoneCorrectionVertical", fixed=CORNERS, **STEEP)
def keystone_vertical(focal_length: float):
    return keystone(focal_length, True, False)


@formula_of("keystoneCorrectionHorizontal", fixed=CORNERS, **STEEP)
def keystone_horizontal(focal_length: float):
    return keystone(focal_length, False, True)


@formula_of("perspectiveTransformWithExtent", fixed=CORNERS, **STEEP)
def perspective_transform_with_extent(extent):
    def formula(colors):
        size = complex(*colors.shape[1::-1])
        is_whole = min(extent[2:]) <= 0
        origin, part = (0j, size) if is_whole else (complex(*extent[:2]), complex(*extent[2:]))
        found, is_seen = unit_square(grid(colors))
        within = found.real * part.real + 1j * found.imag * part.imag
        places = origin + within
        cover = covered(within, part) * covered(places, size) * is_seen[..., None]
        return read(colors, places) * cover

    return formula
