"""A row of the table."""

from dataclasses import dataclass
from pathlib import Path

from sidelight_testing.contract import REPOSITORY

SWIFT_TESTS = REPOSITORY / ".build/release/sidelightPackageTests.xctest"
REALTIME = REPOSITORY / ".build/release/realtime"


@dataclass
class Settings:
    """The extent of the measurements."""

    quick: bool = False
    ping_minutes: float | None = None
    scratch: Path = REPOSITORY / "out/slo"

    def either(self, quick: float, full: float) -> float:
        return quick if self.quick else full


@dataclass
class Row:
    """The result of a service-level objective."""

    number: int
    objective: str
    figure: str
    limit: str
    # None: not measured.
    holds: bool | None
    how: str

    @property
    def verdict(self) -> str:
        return {True: "ok", False: "**missed**", None: "not measured"}[self.holds]


def not_measured(number: int, objective: str, limit: str, why: str) -> Row:
    return Row(number, objective, "", limit, None, why)
