"""Tables and plots of the results."""

from cells import (COPY, CPP, CPP_PLAIN, CPP_WINDOWS, CROSS, FRAMES, GENERATED, KB1, MEMORY, OURS,
                   PYTHON, SOCKETS, TCP, UHD_BGRA, UNIX, Cell, Frame)
from driver import Result
from plot import Axis, Panel, Series, rounds, svg
from reporting import table
from results import Results
from targets import checks

PEERS = [OURS, GENERATED, CROSS, CPP, CPP_WINDOWS, CPP_PLAIN, PYTHON, SOCKETS]
PLOTTED = [*FRAMES, UHD_BGRA]


def number(value: float) -> str:
    """A number with three significant digits."""
    if not value:
        return "-"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f}"


class Report:
    def __init__(self, results: Results):
        self.results = results.medians()
        self.runs = results.counts()
        self.checks = checks(results)

    def verdicts(self) -> str:
        return table(["", "requirement", "measured", "limit"], [
            [check.verdict, check.name, check.measured, check.limit] for check in self.checks], 4)

    def frames_a_second(self) -> str:
        """The peers side by side, one stream inline."""
        peers = [peer for peer in PEERS if any(
            cell.peer == peer and cell.streams == 1 for cell in self.results)]
        lines = []
        for transport in (TCP, UNIX):
            for frame in FRAMES:
                for in_flight in (1, 4):
                    cells = [Cell(peer, transport, frame, in_flight) for peer in peers]
                    if not any(cell in self.results for cell in cells):
                        continue
                    copies = self.results.get(Cell(COPY, None, frame))
                    lines.append(
                        [transport, frame.name, str(in_flight)]
                        + [self._fps(cell) for cell in cells]
                        + [number(copies.fps) if copies else "-"])
        return table(["", "frame", "in flight", *peers, "memcpy"], lines, 2)

    def _fps(self, cell: Cell) -> str:
        result = self.results.get(cell)
        return number(result.fps) if result else "-"

    def every(self) -> str:
        """Every cell with all its figures."""
        lines = []
        for cell, result in sorted(self.results.items(), key=self._order):
            if cell.transport is None:
                continue
            streams = str(cell.streams)
            if cell.connections:
                streams += f" on {cell.connections}"
            lines.append([
                cell.transport, cell.frame.label, streams, str(cell.in_flight), self._load(cell),
                cell.peer, number(result.fps), number(result.p50), number(result.p99),
                number(result.server), number(result.client), f"{result.server_memory:.0f}",
                f"{result.client_memory:.0f}", str(self.runs[cell])])
        return table(
            ["", "frame", "streams", "in flight", "load", "peer", "frames/s", "p50 ms", "p99 ms",
             "server CPU ms", "client CPU ms", "server RSS MiB", "client RSS MiB", "runs"], lines, 6)

    def standalone(self) -> str:
        """The work that was measured without a transport."""
        return table(["", "frame", "ms", "a second"], [
            [cell.peer + (f", {cell.work}" if cell.work != "none" else ""), cell.frame.label,
             number(result.p50), number(result.fps)]
            for cell, result in sorted(self.results.items(), key=self._order)
            if cell.transport is None], 2)

    @staticmethod
    def _load(cell: Cell) -> str:
        parts = [f"JPEG {cell.jpeg}"] if cell.jpeg else []
        parts += [cell.work] if cell.work != "none" else []
        parts += [f"{cell.fps:g} fps"] if cell.fps else []
        return ", ".join(parts) or "pass-through"

    @staticmethod
    def _order(item: tuple[Cell, Result]) -> tuple:
        cell, transports = item[0], [TCP, UNIX, MEMORY, None]
        peer = PEERS.index(cell.peer) if cell.peer in PEERS else len(PEERS)
        return (transports.index(cell.transport), cell.streams, cell.work, cell.frame.bytes,
                cell.in_flight, peer, cell.connections or 0)

    # Plots.

    def plots(self) -> dict[str, str]:
        """SVG by name."""
        peers = [OURS, CPP, CPP_PLAIN, GENERATED, SOCKETS]
        alone, four = ([(peer, peer, TCP, in_flight) for peer in peers] for in_flight in (1, 4))
        ways = [("TCP", OURS, TCP, 1), ("Unix socket", OURS, UNIX, 1),
                ("shared memory", OURS, MEMORY, 1), ("C++ gRPC, TCP", CPP, TCP, 1),
                ("C sockets, Unix", SOCKETS, UNIX, 1)]
        drawings = {
            "throughput": ("Frames inline over TCP", "one stream, pass-through", [
                self._panel("1 in flight: frames a second", lambda result: result.fps, alone),
                self._panel("4 in flight: frames a second", lambda result: result.fps, four)]),
            "cost": ("Cost of a frame", "one stream over TCP, 4 in flight, both sides", [
                self._panel("Processor time a frame, ms", lambda result: result.cpu, four),
                self._panel("Resident memory, MiB", lambda result: result.server_memory
                            + result.client_memory, four)]),
            "latency": ("Round trips", "one stream, 1 in flight, pass-through", [
                self._panel("p50, ms", lambda result: result.p50, ways, [("1 KB inline", KB1)]),
                self._panel("p99, ms", lambda result: result.p99, ways)]),
        }
        return {name: svg(title, subtitle, [panel for panel in panels if panel])
                for name, (title, subtitle, panels) in drawings.items() if any(panels)}

    def _panel(self, title: str, value, ways: list[tuple[str, str, str, int]],
               references: list[tuple[str, Frame]] = ()) -> Panel | None:
        series = []
        for name, peer, transport, in_flight in ways:
            cells = [Cell(peer, transport, frame, in_flight) for frame in PLOTTED]
            points = [(index, value(self.results[cell])) for index, cell in enumerate(cells)
                      if cell in self.results]
            if points:
                series.append(Series(name, points))
        if not series:
            return None
        lines = [(name, value(self.results[cell])) for name, frame in references
                 if (cell := Cell(OURS, UNIX, frame)) in self.results]
        values = [at for line in series for _, at in line.points] + [at for _, at in lines]
        last = int(max(at for line in series for at, _ in line.points))
        ticks = [(index, frame.name) for index, frame in enumerate(PLOTTED[:max(last, 1) + 1])]
        return Panel(title, Axis(ticks, "frame", logarithmic=False), rounds(values), series, lines)
