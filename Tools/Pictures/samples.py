"""Draws the stickers and backgrounds of Examples/media.

    dev/python Tools/Pictures/samples.py FOLDER
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFilter
import PIL.ImageFont

OVERSAMPLING = 4

Color = tuple[int, int, int]
Points = list[tuple[float, float]]


def curve(*points: tuple[float, float], steps: int = 24) -> Points:
    """A cubic Bezier curve through every third point."""
    result: Points = []
    for start in range(0, len(points) - 3, 3):
        p = np.array(points[start : start + 4], dtype=float)
        t = np.linspace(0, 1, steps)[:, None]
        line = (
            (1 - t) ** 3 * p[0] + 3 * t * (1 - t) ** 2 * p[1] + 3 * t**2 * (1 - t) * p[2]
            + t**3 * p[3]
        )
        result += [tuple(point) for point in line]
    return result


def mirrored(points: Points, width: float) -> Points:
    """The points with left and right exchanged, in reverse order."""
    return [(width - x, y) for x, y in reversed(points)]


class Canvas:
    """A transparent picture on which shapes are painted with antialiasing."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        rows, columns = height * OVERSAMPLING, width * OVERSAMPLING
        # Premultiplied colour and alpha, 0 to 1.
        self.pixels = np.zeros((rows, columns, 4))
        y, x = np.mgrid[0:rows, 0:columns]
        self.x, self.y = (x + 0.5) / OVERSAMPLING, (y + 0.5) / OVERSAMPLING

    def mask(self, draw: Callable[[PIL.ImageDraw.ImageDraw], None]) -> np.ndarray:
        """The shape that a function draws in white, 0 or 1."""
        size = (self.width * OVERSAMPLING, self.height * OVERSAMPLING)
        picture = PIL.Image.new("L", size)
        draw(PIL.ImageDraw.Draw(picture))
        return np.asarray(picture, dtype=float) / 255

    def polygon(self, points: Points) -> np.ndarray:
        """The inside of a polygon."""
        scaled = [(x * OVERSAMPLING, y * OVERSAMPLING) for x, y in points]
        return self.mask(lambda draw: draw.polygon(scaled, fill=255))

    def line(self, points: Points, width: float) -> np.ndarray:
        """A line with round ends: discs along the way, closer than a pixel."""
        path = np.array(points) * OVERSAMPLING
        reach = width * OVERSAMPLING / 2

        def draw(to: PIL.ImageDraw.ImageDraw) -> None:
            for start, end in zip(path[:-1], path[1:]):
                for share in np.linspace(0, 1, int(np.hypot(*(end - start))) + 2):
                    x, y = start + share * (end - start)
                    to.ellipse((x - reach, y - reach, x + reach, y + reach), fill=255)

        return self.mask(draw)

    def rounded(
        self, center: tuple[float, float], size: tuple[float, float], power: float
    ) -> np.ndarray:
        """A superellipse: an ellipse for 2, squarer for greater powers."""
        u = np.abs(self.x - center[0]) / (size[0] / 2)
        v = np.abs(self.y - center[1]) / (size[1] / 2)
        return (u**power + v**power <= 1).astype(float)

    def soft(self, mask: np.ndarray, radius: float) -> np.ndarray:
        """A mask, blurred."""
        picture = PIL.Image.fromarray(np.rint(mask * 255).astype(np.uint8))
        blur = PIL.ImageFilter.GaussianBlur(radius * OVERSAMPLING)
        return np.asarray(picture.filter(blur), dtype=float) / 255

    def paint(self, mask: np.ndarray, color: Color | np.ndarray, opacity: float = 1) -> None:
        """Paints a colour, or a picture of colours, where the mask is."""
        alpha = (mask * opacity)[..., None]
        over = np.concatenate(
            [np.broadcast_to(np.asarray(color) / 255, (*mask.shape, 3)) * alpha, alpha], axis=-1
        )
        self.pixels = over + self.pixels * (1 - alpha)

    def blend(self, first: Color, second: Color, amount: np.ndarray) -> np.ndarray:
        """Colours between two."""
        share = np.clip(amount, 0, 1)[..., None]
        return np.asarray(first) * (1 - share) + np.asarray(second) * share

    def picture(self) -> PIL.Image.Image:
        """The canvas with straight alpha."""
        n = OVERSAMPLING
        mean = self.pixels.reshape(self.height, n, self.width, n, 4).mean(axis=(1, 3))
        alpha = mean[..., 3:]
        straight = np.concatenate([mean[..., :3] / np.maximum(alpha, 1e-6), alpha], axis=-1)
        return PIL.Image.fromarray(np.rint(straight * 255).clip(0, 255).astype(np.uint8))


def glasses() -> PIL.Image.Image:
    """Round sunglasses whose lenses are 0.42 of the width apart, as eyes are of a face."""
    canvas = Canvas(400, 148)
    rim, light = (34, 30, 33), (120, 108, 112)
    # The hinges, behind the rims.
    for side in (-1, 1):
        hinge = curve(
            (200 + side * 157, 40), (200 + side * 170, 37), (200 + side * 182, 40),
            (200 + side * 192, 52),
        )
        canvas.paint(canvas.line(hinge, 13), rim)
        canvas.paint(canvas.line([(x, y - 3) for x, y in hinge[4:-4]], 3), light, 0.6)
    for center in ((116, 76), (284, 76)):
        inner = canvas.rounded(center, (134, 122), 2.5)
        shade = canvas.blend((24, 30, 46), (96, 66, 60), (canvas.y - 18) / 120)
        canvas.paint(inner, shade, 0.82)
        # A reflection along the upper left.
        x, y = center
        band = (np.abs((canvas.x - x) * 0.62 + (canvas.y - y) + 26) < 11) * inner
        canvas.paint(canvas.soft(band, 1.2) * inner, (255, 255, 255), 0.32)
        band = (np.abs((canvas.x - x) * 0.62 + (canvas.y - y) + 5) < 4) * inner
        canvas.paint(canvas.soft(band, 1.2) * inner, (255, 255, 255), 0.22)
        outer = canvas.rounded(center, (154, 142), 2.5)
        ring = outer * (1 - inner)
        canvas.paint(ring, rim)
        edge = canvas.rounded((x - 0.6, y - 1.6), (149, 137), 2.5)
        shine = edge * (1 - canvas.rounded((x + 0.8, y + 2.2), (148, 137), 2.5)) * ring
        canvas.paint(canvas.soft(shine, 0.8) * ring, light, 0.9)
    bridge = curve((188, 62), (192, 46), (208, 46), (212, 62))
    canvas.paint(canvas.line(bridge, 13), rim)
    canvas.paint(canvas.line([(x, y - 3) for x, y in bridge[5:-5]], 3), light, 0.7)
    return canvas.picture()


def moustache() -> PIL.Image.Image:
    """A handlebar moustache."""
    canvas = Canvas(400, 140)
    upper = curve(
        (200, 44), (176, 10), (128, 10), (96, 48),
        (76, 72), (44, 74), (34, 52), (28, 38), (40, 26), (52, 32),
    )
    lower = curve(
        (52, 32), (26, 12), (2, 40), (12, 72), (26, 116), (104, 134), (152, 104),
        (178, 88), (192, 72), (200, 66),
    )
    half = upper + lower
    shape = np.maximum(canvas.polygon(half), canvas.polygon(mirrored(half, 400)))
    shade = canvas.blend((92, 56, 34), (38, 21, 14), (canvas.y - 18) / 90)
    canvas.paint(shape, shade)
    random = np.random.default_rng(3)
    # Hairs from the middle outwards, between the upper and the lower edge.
    for _ in range(44):
        share, drift = random.uniform(0.05, 0.95), random.uniform(-0.1, 0.1)
        start = random.uniform(0, 0.5)
        top, bottom = np.array(upper), np.array(lower[::-1])
        t = np.linspace(start, min(1, start + random.uniform(0.25, 0.6)), 40)
        pick = (t[:, None] * (np.array([len(top), len(bottom)]) - 1)).astype(int)
        weights = np.clip(share + drift * (t - start), 0.02, 0.98)[:, None]
        hair = top[pick[:, 0]] * (1 - weights) + bottom[pick[:, 1]] * weights
        points = [tuple(point) for point in hair]
        color = (150, 101, 66) if random.random() < 0.45 else (26, 14, 9)
        for line in (points, mirrored(points, 400)):
            canvas.paint(canvas.line(line, 1.9) * shape, color, random.uniform(0.25, 0.55))
    groove = canvas.line([(200, 40), (200, 72)], 3)
    canvas.paint(canvas.soft(groove, 3) * shape, (20, 10, 6), 0.7)
    return canvas.picture()


def hat() -> PIL.Image.Image:
    """A top hat with a red band, seen from a little below."""
    canvas = Canvas(400, 300)
    left = curve((90, 232), (84, 160), (76, 90), (64, 30))
    top = curve((64, 30), (105, 8), (295, 8), (336, 30))
    bottom = curve((310, 232), (262, 254), (138, 254), (90, 232))
    crown = canvas.polygon(left + top + mirrored(left, 400) + bottom)
    brim_edge = (
        curve((8, 214), (40, 190), (90, 216), (200, 222), (310, 216), (360, 190), (392, 214))
        + curve((392, 214), (398, 236), (330, 288), (200, 290), (70, 288), (2, 236), (8, 214))
    )
    brim = canvas.polygon(brim_edge)
    # Light from the upper left, as a function of the position across the cylinder.
    across = (canvas.x - 64) / 272
    silk = canvas.blend((32, 31, 38), (104, 102, 118), np.exp(-(((across - 0.3) / 0.13) ** 2)))
    silk = silk + np.exp(-(((across - 0.9) / 0.07) ** 2))[..., None] * 22
    silk = silk * (1 - 0.45 * np.clip((across - 0.5) / 0.5, 0, 1))[..., None]
    canvas.paint(brim, (26, 25, 30))
    canvas.paint(crown, silk)
    # The band follows the curve of the brim.
    depth = canvas.y - 26 * np.sqrt(np.clip(1 - ((canvas.x - 200) / 138) ** 2, 0, 1))
    band = crown * (depth > 166) * (depth < 208)
    red = canvas.blend((132, 22, 34), (222, 66, 72), np.exp(-(((across - 0.3) / 0.15) ** 2)))
    red = red * (1 - 0.5 * np.clip((across - 0.5) / 0.5, 0, 1))[..., None]
    canvas.paint(band, red)
    for edge in (167, 207):
        canvas.paint(crown * (np.abs(depth - edge) < 1.5), (80, 10, 20), 0.7)
    # The brim's front passes before the crown.
    front = canvas.polygon(
        curve((8, 214), (60, 236), (130, 250), (200, 250), (270, 250), (340, 236), (392, 214))
        + curve((392, 214), (398, 236), (330, 288), (200, 290), (70, 288), (2, 236), (8, 214))
    )
    gloss = np.exp(-(((canvas.x - 130) / 70) ** 2)) * np.clip((276 - canvas.y) / 30, 0, 1)
    canvas.paint(front, canvas.blend((30, 29, 35), (92, 90, 104), gloss))
    under = front * np.clip((canvas.y - 268) / 24, 0, 1)
    canvas.paint(under, (8, 8, 10), 0.8)
    rim = curve((8, 214), (60, 236), (130, 250), (200, 250), (270, 250), (340, 236), (392, 214))
    canvas.paint(canvas.line(rim[2:-2], 2.2) * brim, (128, 126, 140), 0.55)
    return canvas.picture()


def logo() -> PIL.Image.Image:
    """A sphere lit from the side, and the name."""
    canvas = Canvas(400, 112)
    center, radius = (56, 56), 46
    u, v = (canvas.x - center[0]) / radius, (canvas.y - center[1]) / radius
    height = np.sqrt(np.clip(1 - u**2 - v**2, 0, 1))
    light = np.clip(0.93 * u - 0.2 * v + 0.3 * height, 0, 1)
    disc = canvas.rounded(center, (2 * radius, 2 * radius), 2)
    shade = canvas.blend((26, 32, 58), (255, 176, 72), light**0.8)
    shade = shade + (np.clip(light - 0.75, 0, 1) * 4)[..., None] * np.array([0, 60, 110])
    canvas.paint(canvas.rounded(center, (2 * radius + 7, 2 * radius + 7), 2), (255, 255, 255))
    canvas.paint(disc, np.clip(shade, 0, 255))
    font = PIL.ImageFont.load_default(size=60 * OVERSAMPLING)
    place = (120 * OVERSAMPLING, 58 * OVERSAMPLING)
    # An outline keeps the name legible on every picture.
    outline = canvas.mask(
        lambda draw: draw.text(
            place, "Sidelight", fill=255, font=font, anchor="lm", stroke_width=5 * OVERSAMPLING,
            stroke_fill=255)
    )
    canvas.paint(outline, (26, 32, 58), 0.85)
    name = canvas.mask(
        lambda draw: draw.text(
            place, "Sidelight", fill=255, font=font, anchor="lm", stroke_width=OVERSAMPLING,
            stroke_fill=255)
    )
    canvas.paint(name, (255, 255, 255))
    return canvas.picture()


def blurred(pixels: np.ndarray, radius: float) -> np.ndarray:
    """A picture of levels, blurred."""
    picture = PIL.Image.fromarray(np.rint(pixels.clip(0, 255)).astype(np.uint8))
    return np.asarray(picture.filter(PIL.ImageFilter.GaussianBlur(radius)), dtype=float)


def dithered(pixels: np.ndarray) -> PIL.Image.Image:
    """A picture with noise of less than a level, which hides the steps of gradients."""
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, pixels.shape[:2])[..., None]
    return PIL.Image.fromarray(np.rint((pixels + noise).clip(0, 255)).astype(np.uint8))


def office() -> PIL.Image.Image:
    """A room out of focus: a window, a picture, books and a plant."""
    width, height = 1280, 720
    y, x = np.mgrid[0:height, 0:width].astype(float)
    # A wall that is brighter near the window.
    glow = np.exp(-(((x - 250) / 520) ** 2) - ((y - 250) / 420) ** 2)
    wall = np.array([168, 158, 146]) + glow[..., None] * np.array([62, 62, 60])
    wall = wall * (1 - 0.22 * (y / height) ** 2)[..., None]
    picture = PIL.Image.fromarray(np.rint(wall.clip(0, 255)).astype(np.uint8))
    draw = PIL.ImageDraw.Draw(picture)

    # The window, with the sky and trees behind it.
    draw.rectangle((96, 60, 424, 476), fill="#f4f1ea")
    for row in range(76, 460):
        share = (row - 76) / 384
        sky = np.array([176, 210, 240]) * (1 - share) + np.array([240, 244, 240]) * share
        draw.line((112, row, 408, row), fill=tuple(int(value) for value in sky))
    random = np.random.default_rng(5)
    for _ in range(90):
        left, top = random.uniform(112, 408), random.uniform(350, 460)
        size = random.uniform(14, 40)
        green = tuple(int(value) for value in random.uniform((132, 164, 128), (176, 196, 156)))
        box = (max(112, left - size), top - size / 2, min(408, left + size), min(460, top + size))
        if box[0] < box[2] and box[1] < box[3]:
            draw.ellipse(box, fill=green)
    for box in ((252, 60, 268, 476), (96, 236, 424, 250)):
        draw.rectangle(box, fill="#f4f1ea")
    draw.rectangle((82, 474, 438, 494), fill="#fbf9f4")
    draw.rectangle((82, 492, 438, 502), fill="#8f877c")

    # A bookcase on the right.
    wood, shadow = "#8a5f3d", "#6d5a4a"
    draw.rectangle((806, 90, 1226, 640), fill="#a39684")
    for top in (90, 268, 446, 624):
        draw.rectangle((798, top, 1234, top + 18), fill=wood)
        draw.rectangle((806, top + 18, 1226, top + 30), fill=shadow)
    for left in (798, 1222):
        draw.rectangle((left, 90, left + 12, 642), fill=wood)
    colors = [
        "#b5483b", "#2f5d7c", "#d9b45b", "#3f7259", "#e6ddcc", "#5b4a78", "#c77b4a", "#27323f",
        "#9fb4bd",
    ]
    for bottom, start, end in ((268, 826, 1060), (446, 960, 1206), (624, 822, 1010)):
        left = float(start)
        while left < end:
            thickness, tall = random.uniform(15, 32), random.uniform(92, 134)
            color = colors[int(random.integers(len(colors)))]
            draw.rectangle((left, bottom - tall, left + thickness - 2, bottom), fill=color)
            stripe = bottom - tall * 0.75
            draw.rectangle((left, stripe, left + thickness - 2, stripe + 7), fill="#efe6d2")
            left += thickness
    # A plant, a box and a vase between them.
    draw.polygon([(1104, 206), (1188, 206), (1176, 268), (1116, 268)], fill="#d8d3c8")
    for angle in np.linspace(-2.7, -0.45, 13):
        length = random.uniform(62, 88)
        tip = (1146 + length * np.cos(angle) * 0.8, 206 + length * np.sin(angle))
        side = (1146 + 12 * np.sin(angle), 206 - 12 * np.cos(angle))
        green = ("#3f6e45", "#5c8f55", "#2f5638")[int(random.integers(3))]
        draw.polygon([(1140, 210), side, tip, (1152, 210)], fill=green)
        draw.line((1146, 208, *tip), fill=green, width=9)
    draw.rectangle((836, 380, 928, 446), fill="#c9b391")
    draw.rectangle((836, 380, 928, 394), fill="#b39a76")
    draw.ellipse((1060, 560, 1120, 626), fill="#4d7f8f")
    draw.rectangle((1080, 530, 1100, 570), fill="#4d7f8f")
    # A picture on the wall.
    draw.rectangle((520, 130, 700, 270), fill="#3b342e")
    draw.rectangle((530, 140, 690, 260), fill="#f1ece2")
    draw.polygon([(545, 245), (600, 172), (640, 222), (658, 202), (678, 245)], fill="#7f9aa5")
    draw.ellipse((636, 158, 660, 182), fill="#e0a458")

    pixels = blurred(np.asarray(picture, dtype=float), 9)
    # Light from the window over everything, and a darker rim.
    pixels = pixels + np.exp(-(((x - 260) / 300) ** 2) - ((y - 270) / 260) ** 2)[..., None] * 26
    rim = ((x - 640) / 900) ** 2 + ((y - 340) / 620) ** 2
    return dithered(pixels * (1 - 0.3 * rim)[..., None])


def gradient() -> PIL.Image.Image:
    """Soft lights of blue, teal and violet."""
    width, height = 1280, 720
    y, x = np.mgrid[0:height, 0:width].astype(float)
    x, y = x / width, y / height
    pixels = np.array([16, 22, 54]) + y[..., None] * np.array([22, 12, 40])
    for cx, cy, rx, ry, color in (
        (0.16, 0.2, 0.42, 0.5, (24, 132, 158)), (0.86, 0.12, 0.38, 0.5, (118, 62, 196)),
        (0.62, 0.94, 0.5, 0.46, (34, 84, 190)), (0.06, 0.98, 0.34, 0.42, (150, 60, 140)),
        (0.98, 0.72, 0.26, 0.4, (236, 128, 96)),
    ):
        share = np.exp(-(((x - cx) / rx) ** 2) - ((y - cy) / ry) ** 2)[..., None] * 0.8
        pixels = pixels * (1 - share) + np.array(color) * share
    # A broad fold of light from the lower left to the upper right.
    fold = y - 0.62 + 0.34 * np.sin(2.1 * x + 0.35)
    wave = np.where(fold > 0, np.exp(-((fold / 0.3) ** 2)), np.exp(-((fold / 0.05) ** 2)))
    pixels = pixels + wave[..., None] * np.array([22, 30, 38])
    return dithered(pixels)


def main(folder: str) -> None:
    target = Path(folder)
    for draw in (glasses, moustache, hat, logo):
        draw().save(target / f"{draw.__name__}.png", optimize=True)
    for draw in (office, gradient):
        draw().save(target / f"{draw.__name__}.jpg", quality=84, optimize=True, progressive=True)


if __name__ == "__main__":
    main(sys.argv[1])
