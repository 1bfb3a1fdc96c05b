"""Records the studio for its guide: a newcomer's first steps, with the fake camera.

The frames come from the browser's screencast, with their times; ffmpeg joins them.
"""

import base64
import subprocess
import tempfile
from pathlib import Path

from calltesting.browser import Browser
from calltesting.camera import Camera
from studiotesting.page import StudioPage
from studiotesting.studio import PAGE, Studio

WIDTH, HEIGHT = 1280, 720
SHOWN_WIDTH = 800
FRAMES_PER_SECOND = 4
# The first quality with which the file is small enough is taken.
QUALITIES = (46, 40, 34, 28)
MAX_BYTES = 600_000
CAMERA_SECONDS = 8
DRAG_STEPS = 8
# The camera shows the portrait that comes with the page, and moves slowly.
ZOOM = (
    "scale=1600:-2,zoompan=z='1.25+0.1*sin(2*PI*on/{frames})':"
    "x='(iw-iw/zoom)*(0.5+0.4*sin(2*PI*on/{frames}))':y='(ih-ih/zoom)*0.12':"
    "d={frames}:s=640x360:fps=30,format=yuv420p"
)
# The mouse pointer, which screencasts do not have.
POINTER = """() => {
    const pointer = document.createElement("div");
    pointer.style.cssText = `position: fixed; left: 0; top: 0; width: 18px; height: 18px;
        margin: -9px; border-radius: 50%; z-index: 99; pointer-events: none;
        background: rgb(224 86 74 / 75%); border: 2px solid white; translate: 640px 500px;
        box-shadow: 0 1px 5px rgb(0 0 0 / 50%)`;
    document.body.append(pointer);
    for (const type of ["pointermove", "mousemove"]) {
        addEventListener(type, ({ clientX, clientY }) => {
            pointer.style.translate = `${clientX}px ${clientY}px`;
        }, { capture: true });
    }
}"""


def portrait_camera(path: Path) -> Camera:
    """Writes the video of a fake camera that shows the portrait of the page."""
    frames = 30 * CAMERA_SECONDS
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-i", PAGE / "media/portrait.jpg", "-vf",
         ZOOM.format(frames=frames), "-frames:v", str(frames), "-y", path],
        check=True, timeout=120,
    )
    return Camera(path, 640, 360, 30, frames)


class Recorder:
    """The frames of a page's screencast, with their times in seconds."""

    def __init__(self, browser, page: StudioPage) -> None:
        self.frames: list[tuple[float, bytes]] = []
        self._page = page
        browser.listeners["Page.screencastFrame"] = self._keep

    def __enter__(self):
        self._page.page.command(
            "Page.startScreencast", format="jpeg", quality=90, maxWidth=WIDTH, maxHeight=HEIGHT
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._page.page.command("Page.stopScreencast")

    def _keep(self, event: dict) -> None:
        time = event["metadata"]["timestamp"]
        # The others come between two frames of the recording.
        if not self.frames or time - self.frames[-1][0] >= 1 / FRAMES_PER_SECOND:
            self.frames.append((time, base64.b64decode(event["data"])))
        self._page.page.send("Page.screencastFrameAck", sessionId=event["sessionId"])

    def write(self, path: Path) -> None:
        """Joins the frames to an animated WebP file of at most `MAX_BYTES`."""
        with tempfile.TemporaryDirectory() as folder:
            lines = []
            for index, (time, picture) in enumerate(self.frames):
                file = Path(folder, f"{index:04}.jpg")
                file.write_bytes(picture)
                following = self.frames[min(index + 1, len(self.frames) - 1)][0]
                lines.append(f"file '{file}'\nduration {max(following - time, 0.04):.3f}\n")
            list_file = Path(folder, "frames")
            list_file.write_text("".join(lines))
            for quality in QUALITIES:
                _join(list_file, path, quality)
                if path.stat().st_size <= MAX_BYTES:
                    return
        raise ValueError(f"{path} has {path.stat().st_size} bytes; it may have {MAX_BYTES}")


def _join(list_file: Path, path: Path, quality: int) -> None:
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-f", "concat", "-safe", "0", "-i", list_file,
         "-vf", f"fps={FRAMES_PER_SECOND},scale={SHOWN_WIDTH}:-1:flags=lanczos",
         "-c:v", "libwebp_anim", "-quality", str(quality), "-compression_level", "6",
         "-loop", "0", "-y", path],
        check=True, timeout=300,
    )


def record(path: Path) -> None:
    """Records the first steps."""
    with tempfile.TemporaryDirectory() as folder:
        camera = portrait_camera(Path(folder, "camera.y4m"))
        with Browser(camera) as browser, Studio() as studio:
            browser.command("Browser.grantPermissions", permissions=["clipboardSanitizedWrite"])
            page = StudioPage(browser, studio.url, WIDTH, HEIGHT)
            page.page.command("Emulation.setScrollbarsHidden", hidden=True)
            page.wait_until_ready()
            page.wait_for_thumbnails()
            page.run(POINTER)
            with Recorder(browser, page) as recorder:
                _first_steps(page)
            recorder.write(path)
    print(path)


def _first_steps(page: StudioPage) -> None:
    _rest(page, 1)
    _click(page, "#use-camera")
    page.until("() => document.querySelector('#source').value === 'camera'")
    _rest(page, 1.5)
    _click(page, "#clear")
    _click(page, '#gallery [data-filter="photoEffectNoir"]')
    _rest(page, 1)
    _click(page, '#gallery [data-filter="glow"]')
    _rest(page, 1)
    slider = '#stages [data-filter="glow"] [data-parameter="intensity"] input[type=range]'
    _drag(page, page.place(slider, 0.5), page.place(slider, 0.95))
    _rest(page, 0.6)
    _click(page, "#toggle-split")
    _drag(page, page.place("#split"), page.place("#screen", 0.25, 0.5))
    _drag(page, page.place("#split"), page.place("#screen", 0.75, 0.5))
    _click(page, "#toggle-split")
    _click(page, "#copy-swift")
    _rest(page, 0.5)
    _click(page, "#copy")
    page.until("() => document.querySelector('#step-copy.done')")
    _rest(page, 1)


def _click(page: StudioPage, selector: str) -> None:
    """Moves the mouse to an element, and clicks it."""
    page.until("(s) => document.querySelector(s)", selector)
    x, y = page.place(selector)
    page.mouse("Moved", x, y, is_down=False)
    _rest(page, 0.3)
    page.mouse("Pressed", x, y)
    page.mouse("Released", x, y)
    _rest(page, 0.2)


def _drag(page: StudioPage, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drags with the mouse within a second."""
    page.mouse("Moved", *start, is_down=False)
    _rest(page, 0.2)
    page.mouse("Pressed", *start)
    for step in range(1, DRAG_STEPS + 1):
        part = step / DRAG_STEPS
        page.mouse("Moved", *(a + (b - a) * part for a, b in zip(start, end, strict=True)))
        _rest(page, 1 / DRAG_STEPS)
    page.mouse("Released", *end)


def _rest(page: StudioPage, seconds: float) -> None:
    """Lets time pass in the recording."""
    page.run("(ms) => new Promise((resolve) => setTimeout(resolve, ms))", seconds * 1000)
