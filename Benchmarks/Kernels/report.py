"""Tables of the results."""

from driver import Times
from reporting import table
from rows import Row, Target

OURS = "ours"


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


class Report:
    def __init__(self, rows: list[Row], peers: list, results: dict[tuple, Times]):
        self.rows, self.peers, self.results = rows, peers, results

    def median(self, key: str, peer: str, threads: str, ring: str) -> float | None:
        times = self.results.get((key, peer, threads, ring))
        return times.median if times else None

    def ours(self) -> str:
        """The times of Sidelight, and their ratios to a copy."""
        lines = []
        for row in self.rows:
            cells = [row.title]
            for threads in ("1", "all"):
                for ring in ("hot", "cold"):
                    times = self.results.get((row.key, OURS, threads, ring))
                    cells.append(f"{number(times.median)} ({number(times.least)})" if times else "-")
            for ring in ("hot", "cold"):
                cells.append(self._multiple(row, ring))
            lines.append(cells)
        for_copy = ["memcpy of a BGRA frame"]
        for threads in ("1", "all"):
            for ring in ("hot", "cold"):
                times = self.results.get(("memcpy", "loops", threads, ring))
                for_copy.append(f"{number(times.median)} ({number(times.least)})" if times else "-")
        return table(
            ["ms: median (least)", "1T hot", "1T cold", "all hot", "all cold",
             "1T hot / memcpy", "1T cold / memcpy"],
            [for_copy + ["1.00", "1.00"], *lines])

    def _multiple(self, row: Row, ring: str) -> str:
        ours = self.median(row.key, OURS, "1", ring)
        copy = self.median("memcpy", "loops", "1", ring)
        return number(ours / copy) if ours and copy else "-"

    def beside(self) -> str:
        """The times of the peers, and their ratios to Sidelight."""
        names = [peer.name for peer in self.peers if peer.name != OURS]
        lines = []
        for row in self.rows:
            cells = [row.title]
            for name in names:
                for threads in ("1", "all"):
                    theirs = self.median(row.key, name, threads, "hot")
                    ours = self.median(row.key, OURS, threads, "hot")
                    ratio = f" **{number(theirs / ours)}x**" if theirs and ours else ""
                    cells.append(number(theirs) + ratio)
            if any(cell != "-" for cell in cells[1:]):
                lines.append(cells)
        return table(
            ["ms hot, **times ours**"] + [f"{name} {t}T" if t == "1" else f"{name} all"
                                          for name in names for t in ("1", "all")], lines)

    def targets(self) -> str:
        """The targets, and whether they were reached."""
        lines = [line for row in self.rows for target in row.targets
                 if (line := self._target(row, target))]
        return table(["work", "target", "measured", ""], lines)

    def _target(self, row: Row, target: Target) -> list[str] | None:
        ours = self.median(row.key, OURS, target.threads, target.ring)
        theirs = self.median(target.row or row.key, target.peer, target.threads, target.ring)
        if not ours or not theirs:
            return None
        threads = "1T" if target.threads == "1" else "all threads"
        name = {
            "loops": "memcpy" if target.row == "memcpy" else "one hand-fused loop",
            OURS: "the built-in filter",
        }.get(target.peer, target.peer)
        if target.at_least:
            ratio, reached = theirs / ours, theirs / ours >= target.limit
            wish = f"at least {target.limit:g}x as fast as {name}, {threads}"
        else:
            ratio, reached = ours / theirs, ours / theirs <= target.limit
            wish = f"at most {target.limit:g}x {target.ring} {name}, {threads}"
        return [row.title, wish, number(ratio) + "x", "reached" if reached else "**missed**"]

    def says(self) -> str:
        """The operations that every peer ran."""
        lines = []
        for row in self.rows:
            for peer in self.peers:
                if text := peer.ask(f"says {row.key}"):
                    lines.append([row.title, peer.name, text.replace("|", "/")])
        return table(["work", "peer", "operation"], lines)
