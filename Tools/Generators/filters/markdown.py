"""The reference page of the catalogue, docs/reference/filters.md."""

import re
from pathlib import Path

from . import text

TITLES = {
    "color": "Colour",
    "effect": "Effects",
    "blur": "Blur",
    "sharpen": "Sharpening",
    "stylize": "Stylizing",
    "distortion": "Distortion",
    "geometry": "Geometry",
    "compositing": "Compositing",
    "generator": "Generators",
    "halftone": "Halftones",
    "tile": "Tiles",
    "transition": "Transitions",
    "reduction": "Reductions",
    "analysis": "Analysis",
}
READS = {
    "PIXEL": "one pixel; fused with neighbouring filters into one pass",
    "NEIGHBORHOOD": "a neighbourhood; one pass, with neighbouring one-pixel filters",
    "FRAME": "the whole frame; a separate pass",
}
#: The filters that are kernels.
KERNELS = Path(__file__).resolve().parents[3] / "Sources/KernelLanguage/Catalogue"
#: The folder of the pictures, relative to the page.
PICTURES = "../images/gallery"


def chapters(filters):
    """The filters by category, in the order of the page."""
    of = {name: [each for each in filters if each["category"] == name] for name in TITLES}
    return {name: found for name, found in of.items() if found}


def escaped(plain):
    """A text for Markdown. Between spaces, `*` and `_` are literal."""
    plain = re.sub(r"([\\`<\[|~])", r"\\\1", plain)
    return re.sub(r"(?<=\S)[*_]|[*_](?=\S)", r"\\\g<0>", plain)


def contents(category, filters):
    title = TITLES[category]
    links = ", ".join(f"[{each['name']}](#{each['name'].lower()})" for each in filters)
    return f"- [{title}](#{title.lower().replace(' ', '-')}): {links}"


def section(description, pictures):
    name = description["name"]
    lines = [f"### {name}", "", escaped(description["summary"]), ""]
    lines += ["```", text.by_default(description), "```", ""]
    if (pictures / f"{name}.jpg").exists():
        alternative = f"{name} on a photograph and on a chart"
        link = f"gallery.md#{name.lower()}"
        lines += [f"[![{alternative}]({PICTURES}/{name}.jpg)]({link})", ""]
    reads = READS[description["reach"].removeprefix("REACH_")]
    if description["category"] == "analysis":
        reads = "input frames; adds no pass and no delay"
    fidelity = description["fidelity"].removeprefix("FIDELITY_").lower()
    lines += [f"- Fidelity: {fidelity}", f"- Reads: {reads}"]
    if "requirement" in description:
        lines.append(f"- Needs: a server that is built with {description['requirement']}")
    if (KERNELS / f"{name}.kernel").exists():
        lines += ["- Formula, a [kernel](../guides/kernels.md):", ""]
        lines += ["```kernel", description["formula"], "```"]
    else:
        lines.append(f"- Formula: {escaped(description['formula'])}")
    parameters = description.get("parameters", [])
    if not parameters:
        return "\n".join([*lines, "", "No parameters.", ""])
    lines += ["", "| parameter | type | default | slider | limits | |", "|---|---|---|---|---|---|"]
    for each in parameters:
        default = text.default_text(each)
        cells = [
            f"`{each['name']}`", text.kind_text(each), f"`{default}`" if default else "required",
            text.range_text(each.get("slider")) or "", text.range_text(each.get("limits")) or "",
            escaped(each["summary"]),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def source(filters, pictures: Path):
    found = chapters(filters)
    head = (Path(__file__).parent / "head.txt").read_text().replace("{count}", str(len(filters)))
    return "\n".join(
        [
            head,
            "\n".join(contents(*each) for each in found.items()) + "\n",
            "\n".join(
                f"## {TITLES[category]}\n\n" + "\n".join(section(each, pictures) for each in listed)
                for category, listed in found.items()
            ),
        ]
    )
