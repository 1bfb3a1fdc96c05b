"""Line plots side by side, as SVG, in the style of the plots of Benchmarks/Realtime."""

import math
from dataclasses import dataclass, field

WIDTH, HEIGHT = 460, 380
LEFT, RIGHT, TOP, BOTTOM = 58, 30, 98, 52
#: Distinguishable for readers with red-green colour blindness (Okabe, Ito, 2008), on light and dark.
COLORS = ["#2a85c9", "#d55e00", "#009e73", "#b5679b", "#8a7a00", "#7f7f7f"]
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.ground { fill: #ffffff } .grid { stroke: #d8dee4 } .reference { stroke: #656d76 }
.title { font-size: 15px; font-weight: 600 } .head { font-weight: 600 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .ground { fill: #0d1117 } .grid { stroke: #30363d }
.reference { stroke: #9198a1 }
}
"""


@dataclass
class Axis:
    """An axis. Ticks are values with their names; the first and the last are its ends."""

    ticks: list[tuple[float, str]]
    label: str = ""
    logarithmic: bool = True

    def place(self, value: float) -> float:
        low, high = self.ticks[0][0], self.ticks[-1][0]
        value = min(max(value, low), high)
        if self.logarithmic:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)


@dataclass
class Series:
    name: str
    points: list[tuple[float, float]]
    dashed: bool = False


@dataclass
class Panel:
    title: str
    x: Axis
    y: Axis
    series: list[Series]
    #: Lines across the panel.
    references: list[tuple[str, float]] = field(default_factory=list)


def rounds(values: list[float]) -> Axis:
    """Returns an axis with ticks at 1, 3, 10, 30 ... around the values."""
    steps = [step * 10.0**power for power in range(-4, 7) for step in (1, 3)]
    low = max(index for index, step in enumerate(steps) if step <= max(0.8 * min(values), steps[0]))
    high = min(index for index, step in enumerate(steps) if step >= min(max(values), steps[-1]))
    return Axis([(step, f"{step:,g}") for step in steps[low:max(high, low + 1) + 1]])


def svg(title: str, subtitle: str, panels: list[Panel]) -> str:
    width = WIDTH * len(panels)
    drawn = "\n".join(f'<g transform="translate({WIDTH * index} 0)">\n{_panel(panel)}\n</g>'
                      for index, panel in enumerate(panels))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" \
width="{width}" height="{HEIGHT}" role="img">
<title>{title}</title>
<style>{STYLE}</style>
<rect class="ground" width="{width}" height="{HEIGHT}" rx="6"/>
<text class="title" x="{LEFT}" y="26">{title}</text>
<text x="{width - RIGHT}" y="26" text-anchor="end">{subtitle}</text>
{drawn}
</svg>
"""


def _panel(panel: Panel) -> str:
    lines: list[str] = []
    left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM

    def x(value: float) -> float:
        return round(left + panel.x.place(value) * (right - left), 1)

    def y(value: float) -> float:
        return round(bottom - panel.y.place(value) * (bottom - top), 1)

    def text(words: str, at: tuple[float, float], attributes: str = "") -> None:
        lines.append(f'<text x="{at[0]}" y="{at[1]}" {attributes}>{words}</text>')

    for value, name in panel.y.ticks:
        lines.append(f'<path class="grid" d="M{left} {y(value)}H{right}"/>')
        text(name, (left - 8, y(value) + 4), 'text-anchor="end"')
    for value, name in panel.x.ticks:
        lines.append(f'<path class="grid" d="M{x(value)} {bottom}v5"/>')
        text(name, (x(value), bottom + 19), 'text-anchor="middle"')
    text(panel.title, (left, top - 48), 'class="head"')
    text(panel.x.label, ((left + right) / 2, bottom + 40), 'text-anchor="middle"')
    for name, value in panel.references:
        lines.append(f'<path class="reference" stroke-dasharray="2 3" '
                     f'd="M{left} {y(value)}H{right}"/>')
        text(name, (right, y(value) + 14), 'text-anchor="end"')
    legend_x, legend_y = left, top - 34
    for index, series in enumerate(panel.series):
        color, dash = COLORS[index], ' stroke-dasharray="6 4"' if series.dashed else ""
        path = "L".join(f"{x(at)} {y(value)}" for at, value in series.points)
        lines.append(f'<path fill="none" stroke="{color}" stroke-width="2"{dash} d="M{path}"/>')
        lines += [f'<circle r="2.5" fill="{color}" cx="{x(at)}" cy="{y(value)}"/>'
                  for at, value in series.points]
        length = 36 + 7.2 * len(series.name)
        if legend_x + length > WIDTH:
            legend_x, legend_y = left, legend_y + 16
        lines.append(f'<path stroke="{color}" stroke-width="2"{dash} d="M{legend_x} {legend_y}h18"/>')
        text(series.name, (legend_x + 22, legend_y + 4))
        legend_x += length
    return "\n".join(lines)
