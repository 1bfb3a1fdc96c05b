"""Draws the gallery: every filter on a photograph and on a chart, and the pages that show them.

    gallery.py SIDELIGHT DOCS WORK

SIDELIGHT is the command, DOCS the folder of gallery.md and images/, WORK a folder for intermediate files.
SIDELIGHT_TEST_MEDIA names a folder of photographs.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import originals
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

sys.path.append(str(Path(__file__).parents[1] / "Generators"))
from filters import markdown, text

HERE = Path(__file__).parent
SIDE = originals.SIDE
GAP = 8
QUALITY = 78


def shown(description: dict) -> list[tuple[str, str]]:
    """The pipelines that show a filter, each with one that puts the original pictures in another
    light: its examples, or its defaults."""
    if not (examples := description.get("examples")):
        return [("", text.by_default(description))]
    stages = (text.example_stages(description, each) for each in examples)
    return [(", ".join(each[:-1]), each[-1]) for each in stages]


def fitted(picture: PIL.Image.Image) -> PIL.Image.Image:
    """A result on a square: over a checkerboard where it is clear, on grey where it is not."""
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    squares = PIL.Image.fromarray(np.where((x // 8 + y // 8) % 2, 204, 250).astype(np.uint8))
    tile = PIL.Image.new("RGB", (SIDE, SIDE), "#e4e4e8")
    picture = picture.convert("RGBA")
    picture.thumbnail((SIDE, SIDE))
    place = ((SIDE - picture.width) // 2, (SIDE - picture.height) // 2)
    tile.paste(squares.convert("RGB").crop((0, 0, *picture.size)), place)
    tile.paste(picture, place, picture)
    return tile


def beside(*tiles: PIL.Image.Image) -> PIL.Image.Image:
    """Squares in a row."""
    row = PIL.Image.new("RGB", (len(tiles) * (SIDE + GAP) - GAP, SIDE), "#ffffff")
    for index, tile in enumerate(tiles):
        row.paste(tile, (index * (SIDE + GAP), 0))
    return row


def save(picture: PIL.Image.Image, path: Path, quality: int = QUALITY) -> None:
    picture.save(path, quality=quality, optimize=True, progressive=True)


def sheet(cells: list[tuple[str, PIL.Image.Image]], columns: int = 8) -> PIL.Image.Image:
    """All of them at once, small, with their names."""
    side, line, gap = 136, 18, 6
    rows = -(-len(cells) // columns)
    result = PIL.Image.new(
        "RGB", (columns * (side + gap) + gap, rows * (side + line + gap) + gap), "#ffffff"
    )
    draw = PIL.ImageDraw.Draw(result)
    for index, (name, picture) in enumerate(cells):
        left = gap + index % columns * (side + gap)
        top = gap + index // columns * (side + line + gap)
        result.paste(picture.resize((side, side), PIL.Image.Resampling.LANCZOS), (left, top))
        font = next(
            font for font in map(PIL.ImageFont.load_default, range(12, 5, -1))
            if font.getlength(name) <= side + gap or font.size == 6)
        draw.text((left + side / 2, top + side + 2), name, font=font, fill="#303030", anchor="ma")
    return result


def main(sidelight: Path, docs: Path, work: Path) -> None:
    media = os.environ.get("SIDELIGHT_TEST_MEDIA")
    pictures = docs / "images/gallery"
    pictures.mkdir(parents=True, exist_ok=True)
    for old in pictures.glob("*.jpg"):
        old.unlink()
    work.mkdir(parents=True, exist_ok=True)
    originals.write_assets(work, media)
    sources = {"photograph": originals.photograph(media), "chart": originals.chart()}
    for kind, picture in sources.items():
        picture.save(work / f"{kind}.png")
    save(beside(*map(fitted, sources.values())), pictures / "original.jpg")

    def command(*arguments: object) -> str:
        return subprocess.run(
            [sidelight, *arguments], cwd=work, check=True, capture_output=True, text=True
        ).stdout

    listed = json.loads(command("filters", "--json"))["filters"]
    described = json.loads(command("filters", "--json", "--all"))["filters"]
    missing = {each["name"] for each in described} - {each["name"] for each in listed}
    if missing:
        sys.exit(f"this build lacks {', '.join(sorted(missing))}; run dev/setup vision")

    sections: dict[str, list[str]] = {}
    cells = []
    for each in sorted(listed, key=lambda each: each["name"]):
        name = each["name"]
        # An analysis does not change the picture.
        if each["category"] == "analysis":
            continue
        section = [f"### {name}\n\n{each['summary']} [Reference](filters.md#{name.lower()})\n"]
        for number, (light, pipeline) in enumerate(shown(each), start=1):
            results, before = [], []
            for kind in sources:
                original = f"{kind}.png"
                if light:
                    command("apply", original, "lit.png", "--pipeline", light)
                    original = "lit.png"
                    before.append(fitted(PIL.Image.open(work / original)))
                command("apply", original, "result.png", "--pipeline", pipeline)
                results.append(fitted(PIL.Image.open(work / "result.png")))
            file = f"{name}.jpg" if number == 1 else f"{name}-{number}.jpg"
            originals_file = "original.jpg"
            if light:
                originals_file = f"{file.removesuffix('.jpg')}-original.jpg"
                save(beside(*before), pictures / originals_file)
            save(beside(*results), pictures / file)
            if number == 1:
                cells.append((name, results[0]))
            section.append(
                f"```\n{pipeline}\n```\n\n"
                f"![The originals](../images/gallery/{originals_file})\n"
                f"![{name}](../images/gallery/{file})\n"
            )
        sections.setdefault(each["category"], []).append("\n".join(section))
        print(name, flush=True)

    save(sheet(cells), docs / "images/filters.jpg", quality=82)
    # In the order and with the titles of the reference page.
    drawn = [
        (markdown.TITLES[category], sections[category])
        for category in markdown.chapters(listed)
        if category in sections
    ]
    (docs / "reference").mkdir(exist_ok=True)
    (docs / "reference/gallery.md").write_text(
        "<!-- Written by `make gallery` from the files in Tools/Pictures. Do not edit. -->\n"
        + (HERE / "head.md").read_text()
        + "\n"
        + " · ".join([*(f"[{title}](#{title.lower()})" for title, _ in drawn), "[Notes](#notes)"])
        + "\n\n"
        + "\n".join(f"## {title}\n\n" + "\n".join(parts) for title, parts in drawn)
        + "\n"
        + (HERE / "seen.md").read_text()
    )
    size = sum(path.stat().st_size for path in pictures.glob("*.jpg"))
    print(f"{len(list(pictures.glob('*.jpg')))} pictures, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*(Path(argument).resolve() for argument in sys.argv[1:]))
