"""One run of the studio, measured by a number in the camera's picture."""

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from calltesting import barcode
from calltesting.browser import Browser
from calltesting.camera import Camera
from calltesting.latency import percentile
from sidelight_testing.process import cpu_seconds
from studiotesting.page import StudioPage
from studiotesting.studio import Studio

SCRIPT = Path(__file__).with_name("barcodes.js")


@dataclass(frozen=True)
class Settings:
    """A run: the page's size of frames, and the pipeline."""

    size: str
    pipeline: str
    seconds: float
    warm_up_seconds: float


@dataclass(frozen=True)
class Result:
    """The measurements of a run. Times are milliseconds."""

    # From the capture of every frame until the page has drawn its filtered picture, rising.
    latencies: list[float]
    captured_per_second: float
    shown_per_second: float
    # The figures that the page itself shows at the end: latencies, time on the server.
    page: dict[str, float]
    # The processors in use by every program, as a mean.
    processors: dict[str, float]

    def percentile(self, percent: float) -> float:
        """Returns a percentile of the latencies."""
        return percentile(self.latencies, percent)


def run(settings: Settings, camera: Camera) -> Result:
    """Runs the studio with a fake camera."""
    with ExitStack() as stack:
        browser = Browser(camera)
        devtools = stack.enter_context(browser)
        studio = stack.enter_context(Studio())
        page = StudioPage(devtools, studio.url)
        page.wait_until_ready()
        page.use_camera(_outside_strip(settings.pipeline))
        page.enter("#size", settings.size)
        page.page.command("Runtime.evaluate", expression=SCRIPT.read_text())
        page.run("(layout) => studioBarcodes.start(layout)", barcode.layout())
        _pass(page, settings.warm_up_seconds)

        processes = {
            "browser": browser.process_ids, "Sidelight": lambda: [studio.process.pid],
        }
        before = {name: _cpu_seconds(ids()) for name, ids in processes.items()}
        begin = time.monotonic()
        page.run("() => studioBarcodes.clear()")
        _pass(page, settings.seconds)
        found = page.run("() => studioBarcodes.stop()")
        seconds = time.monotonic() - begin
        return Result(
            latencies=sorted(found["latencies"]),
            captured_per_second=found["captured"] / found["seconds"],
            shown_per_second=found["shown"] / found["seconds"],
            page=page.run(
                """(ids) => Object.fromEntries(ids.map((id) =>
                    [id, Number(document.getElementById(id).dataset.value)]))""",
                ["latency-p50", "latency-p95", "server-time"],
            ),
            processors={
                name: (_cpu_seconds(ids()) - before[name]) / seconds
                for name, ids in processes.items()
            },
        )


def _outside_strip(pipeline: str) -> str:
    """Keeps the filters off the number in the picture."""
    return f"[{pipeline}]{barcode.OUTSIDE_STRIP}" if pipeline else ""


def _pass(page: StudioPage, seconds: float) -> None:
    """Lets time pass in the page."""
    page.run("(ms) => new Promise((resolve) => setTimeout(resolve, ms))", seconds * 1000)


def _cpu_seconds(process_ids: list[int]) -> float:
    total = 0.0
    for process_id in process_ids:
        try:
            total += cpu_seconds(SimpleNamespace(pid=process_id))
        except OSError:  # The process has ended.
            continue
    return total
