"""The original pictures of the gallery, and the files that its filters use besides the frame."""

import shutil
from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

SIDE = 320
MEDIA = Path(__file__).parents[2] / "Examples/media"

BARS = ["#ffffff", "#ffff00", "#00ffff", "#00ff00", "#ff00ff", "#ff0000", "#0000ff", "#000000"]
# Skin, light and dark; sky, foliage, brick, dusk; a warm and a cool grey.
MUTED = ["#e8b99b", "#8d5a3c", "#7ba4cf", "#5b7d3f", "#a5533f", "#6a5d86", "#8c857b", "#7a828c"]


def chart() -> PIL.Image.Image:
    """Ramps, bars, a zone plate, fine lines, text, lights on black, and a part with alpha."""
    picture = PIL.Image.new("RGBA", (SIDE, SIDE), "#808080")
    draw = PIL.ImageDraw.Draw(picture)
    font = PIL.ImageFont.load_default(size=11)

    ramp = np.linspace(0, 255, SIDE).round().astype(np.uint8)
    picture.paste(PIL.Image.fromarray(np.tile(ramp, (24, 1))), (0, 0))
    for step in range(11):
        left, right = round(step * SIDE / 11), round((step + 1) * SIDE / 11)
        draw.rectangle((left, 24, right, 43), fill=(round(step * 25.5),) * 3)
    for colors, top, bottom in ((BARS, 44, 83), (MUTED, 84, 111)):
        for index, color in enumerate(colors):
            draw.rectangle((index * 40, top, index * 40 + 39, bottom), fill=color)

    # Frequencies rise from 0 in the middle to half a wave a pixel at the edges.
    axis = np.arange(128) - 63.5
    distance = axis[:, None] ** 2 + axis[None, :] ** 2
    zone = np.rint(127.5 + 127.5 * np.cos(np.pi * distance / 128)).astype(np.uint8)
    picture.paste(PIL.Image.fromarray(zone), (0, 112))

    y, x = np.mgrid[0:32, 0:32]
    lines = [x, x // 2, y, y // 2, x + y, (x + y) // 3, x // 4 + y // 4, (x * 3 + y) // 6]
    for index, pattern in enumerate(lines):
        tile = PIL.Image.fromarray(((pattern % 2) * 255).astype(np.uint8))
        picture.paste(tile, (128 + index % 2 * 32, 112 + index // 2 * 32))

    for top, paper, ink in ((112, "#ffffff", "#000000"), (176, "#101418", "#e8e8e8")):
        draw.rectangle((192, top, 319, top + 63), fill=paper)
        for row, words in enumerate(("Sphinx of black", "quartz, judge my", "vow. 0123456789")):
            draw.text((199, top + 5 + row * 18), words, font=font, fill=ink)

    # Every hue, from grey at the top to full saturation.
    hue = np.tile(np.linspace(0, 255, 120).astype(np.uint8), (80, 1))
    saturation = np.tile(np.linspace(0, 255, 80).astype(np.uint8)[:, None], (1, 120))
    sweep = np.stack([hue, saturation, np.full_like(hue, 230)], axis=-1)
    picture.paste(PIL.Image.fromarray(sweep, "HSV").convert("RGB"), (0, 240))

    draw.rectangle((120, 240, 219, 319), fill="#000000")
    for left, top, radius, color in (
        *((145, 265, 12, "#ffffff"), (185, 262, 7, "#ffd060"), (200, 290, 3, "#60a0ff")),
        *((140, 300, 1, "#ffffff"), (165, 300, 5, "#b0b0b0"), (210, 252, 1, "#ffffff")),
    ):
        draw.ellipse((left - radius, top - radius, left + radius, top + radius), fill=color)

    # A disc on a clear background, opaque on the left and clear on the right.
    y, x = np.mgrid[0:80, 0:100]
    inside = (x - 50) ** 2 + (y - 40) ** 2 < 36**2
    part = np.zeros((80, 100, 4), dtype=np.uint8)
    part[..., :3] = (230, 90, 40)
    part[..., 3] = np.where(inside, np.clip((86 - x) * 255 / 60, 0, 255), 0)
    picture.paste(PIL.Image.fromarray(part), (220, 240))
    return picture


def photograph(media: str | None) -> PIL.Image.Image:
    """The portrait of the folder of real pictures, or else a drawn scene."""
    if media and (Path(media) / "astronaut.png").is_file():
        portrait = PIL.Image.open(Path(media) / "astronaut.png").convert("RGB")
        return portrait.resize((SIDE, SIDE), PIL.Image.Resampling.LANCZOS)
    return scene()


def scene() -> PIL.Image.Image:
    """Sky, sun, hills and a house."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    sky = np.stack([90 + 120 * y, 150 + 70 * y, 235 - 30 * y], axis=-1)
    sun = np.clip(1.4 - np.hypot(x - 0.75, y - 0.2) * 9, 0, 1)[..., None]
    colors = sky * (1 - sun) + np.array([255, 240, 190]) * sun
    for height, swell, color in (
        (0.62, 0.06, (104, 134, 104)),
        (0.72, 0.04, (84, 128, 62)),
        (0.85, 0.02, (60, 96, 44)),
    ):
        crest = height + swell * np.sin(x * 9 + height * 40)
        shade = 1 - 0.5 * np.clip(y - crest, 0, 1)[..., None]
        colors = np.where((y > crest)[..., None], np.array(color) * shade, colors)
    picture = PIL.Image.fromarray(np.clip(colors, 0, 255).astype(np.uint8))
    draw = PIL.ImageDraw.Draw(picture)
    draw.rectangle((70, 190, 150, 260), fill="#d9c9b0")
    draw.polygon([(60, 192), (110, 150), (160, 192)], fill="#9c4436")
    draw.rectangle((84, 206, 104, 228), fill="#31404f")
    draw.rectangle((118, 214, 138, 260), fill="#5a3a28")
    return picture


def write_assets(folder: Path, media: str | None) -> None:
    """The files that pipelines of the gallery name."""
    if media and (Path(media) / "coffee.png").is_file():
        other = PIL.Image.open(Path(media) / "coffee.png").convert("RGB")
        other = other.crop((120, 0, 520, 400)).resize((SIDE, SIDE), PIL.Image.Resampling.LANCZOS)
    else:
        other = scene().transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT)
    other.save(folder / "picture.png")

    # Drawn large and reduced, so its edges are partly clear.
    sticker = PIL.Image.new("RGBA", (480, 480))
    draw = PIL.ImageDraw.Draw(sticker)
    draw.ellipse((20, 20, 460, 460), fill="#ffd23c", outline="#5a4300", width=16)
    for left in (140, 280):
        draw.ellipse((left, 150, left + 60, 230), fill="#5a4300")
    draw.arc((120, 170, 360, 380), 20, 160, fill="#5a4300", width=22)
    sticker.resize((120, 120), PIL.Image.Resampling.LANCZOS).save(folder / "sticker.png")
    shutil.copy(MEDIA / "glasses.png", folder)

    axis = np.linspace(-1, 1, SIDE)
    distance = np.hypot(axis[:, None] * 1.1, axis[None, :])
    mask = np.clip((0.95 - distance) / 0.35, 0, 1)
    PIL.Image.fromarray((mask * 255).round().astype(np.uint8)).save(folder / "mask.png")

    # Shadows towards teal, lights towards orange.
    lines = ['TITLE "Teal and orange"', "LUT_3D_SIZE 17"]
    for blue in np.linspace(0, 1, 17):
        for green in np.linspace(0, 1, 17):
            for red in np.linspace(0, 1, 17):
                luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
                toned = np.array([red, green, blue]) + (luma - 0.5) * np.array([0.25, 0.02, -0.25])
                lines.append(" ".join(f"{value:.5f}" for value in np.clip(toned, 0, 1)))
    (folder / "look.cube").write_text("\n".join(lines) + "\n")
