"""The targets, and whether a run reaches them."""

from dataclasses import dataclass, field

from reporting import table


def number(value: float) -> str:
    if value != value:
        return "-"
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


@dataclass
class Targets:
    rows: list[list[str]] = field(default_factory=list)

    def most(self, title: str, value: float, limit: float, unit: str = "ms") -> None:
        self._add(title, value, f"at most {limit:g} {unit}", value <= limit, unit)

    def least(self, title: str, value: float, limit: float, unit: str = "") -> None:
        self._add(title, value, f"at least {limit:g} {unit}".strip(), value >= limit, unit)

    def _add(self, title: str, value: float, target: str, is_reached: bool, unit: str) -> None:
        self.rows.append(
            [title, f"{number(value)} {unit}".strip(), target,
             "reached" if is_reached else "**missed**"])

    def table(self) -> str:
        return table(["", "measured", "target", ""], self.rows)
