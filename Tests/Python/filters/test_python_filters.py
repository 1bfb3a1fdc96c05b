"""Filters of `sidelight.filters_server`: the guide's, the examples, and their failures."""

import contextlib
import os
import re
import sys

import numpy as np
import PIL.Image
import pytest

from sidelight_testing import images
from sidelight_testing.command import sidelight
from sidelight_testing.contract import REPOSITORY, service
from sidelight_testing.contract import pipeline as policies
from sidelight_testing.server import Server, connect
from sidelight_testing.session import Session, pipeline

EXAMPLES = REPOSITORY / "Examples/filter-processes"
PORTRAIT = REPOSITORY / "Examples/media/portrait.jpg"
ENVIRONMENT = {"PYTHONPATH": str(REPOSITORY / "clients/python/src")}
FILTERS = """
import numpy as np
from sidelight.filters_server import FrameContext, filter, analysis, serve

@filter("half", summary="Halves the size.", format="rgb", scale=0.5)
def half(picture):
    return picture[::2, ::2]

@filter("planes", summary="Inverts luma.", format="nv12")
def planes(picture) -> None:
    luma, chroma = picture
    np.subtract(255, luma, out=luma)

@filter("count", summary="Paints the number of the frame.", format="gray")
class Count:
    def __init__(self):
        self.frames = 0

    def process(self, picture, step: int = 1) -> None:
        self.frames += step
        picture[:] = self.frames

@filter("tell", summary="Fails.", format="gray")
def tell(picture, *, context: FrameContext) -> None:
    print("a line for the log")
    raise ValueError(f"frame {context.sequence} is {context.width}x{context.height}")

@analysis("light", summary="Measures.", format="gray")
def light(picture):
    return {"mean": picture.mean()}

@filter("together", summary="Paints the size of the batch.", format="gray", batch=3, wait="1s")
def together(pictures) -> None:
    for picture in pictures:
        picture[:] = len(pictures)

serve()
"""


def command(file) -> str:
    return f"{sys.executable} {file}"


def apply(folder, file, text: str, *arguments: str) -> tuple[np.ndarray, np.ndarray]:
    """The portrait before and after a pipeline."""
    process = " ".join([command(file), *arguments])
    sidelight(
        "apply", PORTRAIT, folder / "out.png", "--filter-process", process, "--pipeline", text,
        env=os.environ | ENVIRONMENT,
    )
    return tuple(
        np.asarray(PIL.Image.open(path).convert("RGB")).astype(int)
        for path in (PORTRAIT, folder / "out.png")
    )


def test_the_guides_first_lines_are_a_filter(tmp_path):
    guide = (REPOSITORY / "docs/guides/filter-processes.md").read_text()
    program = re.search(r"```python\n(.*?)```", guide, re.DOTALL)[1]
    assert len([line for line in program.splitlines() if line.strip()]) <= 10
    (tmp_path / "filters.py").write_text(program)
    before, after = apply(tmp_path, tmp_path / "filters.py", "sunset(strength: 0.8)")
    half = len(before) // 2
    # The portrait is decoded by another library.
    assert np.abs(before[:half] - after[:half]).mean() < 2
    warm = before[half:] * [1, 1, 0.6]
    assert np.abs(warm - after[half:]).mean() < 2


@pytest.mark.parametrize(
    ("file", "modules", "text"),
    [
        ("sunset.py", [], "splitTone"),
        ("comic.py", ["cv2"], "inkComic"),
    ],
)
def test_an_example_changes_the_portrait(tmp_path, file, modules, text):
    for module in modules:
        pytest.importorskip(module)
    before, after = apply(tmp_path, EXAMPLES / file, text)
    assert 4 < np.abs(before - after).mean() < 80


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    file = tmp_path_factory.mktemp("filters") / "filters.py"
    file.write_text(FILTERS)
    with Server("--filter-process", command(file), environment=ENVIRONMENT) as running:
        yield running
        assert running.process.poll() is None, running.log


@pytest.fixture
def stub(server):
    with connect(server.addresses["unix"]) as channel:
        yield service.FrameFilterStub(channel)


def result(session: Session, picture) -> np.ndarray:
    """The first plane of the frame's result, rows by bytes."""
    session.send_frame(picture)
    return images.samples(session.receive_until("frame").image)[0]


def test_a_filter_returns_another_size(stub):
    with Session(stub, pipeline=pipeline("half")) as session:
        picture = images.noise("RGB24", 9, 6)
        after = result(session, picture)
        before = images.samples(picture)[0].reshape(6, 9, 3)
        assert np.array_equal(after, before[::2, ::2].reshape(3, 15))
        session.finish()


def test_planes_are_inverted(stub):
    with Session(stub, pipeline=pipeline("planes")) as session:
        picture = images.noise("NV12", 9, 5)
        assert np.array_equal(result(session, picture), 255 - images.samples(picture)[0])
        session.finish()


def test_every_session_has_its_state_and_parameters(stub):
    picture = images.noise("GRAY8", 6, 4)
    with Session(stub, pipeline=pipeline("count")) as one:
        with Session(stub, pipeline=pipeline(("count", {"step": 10}))) as two:
            assert [int(result(one, picture).max()) for _ in range(2)] == [1, 2]
            assert [int(result(two, picture).max()) for _ in range(2)] == [10, 20]
            two.finish()
        one.finish()


def test_an_exception_is_the_frames_failure(stub, server):
    with Session(
        stub, pipeline=pipeline("tell"), failure_policy=policies.FAILURE_POLICY_DROP
    ) as session:
        session.send_frame(images.noise("GRAY8", 6, 4), sequence=7)
        dropped = session.receive_until("dropped")
        assert "ValueError: frame 7 is 6x4" in str(dropped)
        session.finish()
    # They arrive on different ways, in any order.
    for line in (r".*a line for the log.*", r".*in tell.*ValueError: frame 7.*"):
        with server.follow_log() as log:
            log.wait_for(line)


def test_an_analysis_reports_numbers(stub):
    with Session(stub, pipeline=pipeline("light")) as session:
        picture = images.noise("GRAY8", 6, 4)
        session.send_frame(picture)
        figures = session.receive_until("analysis").figures
        assert figures["mean"] == pytest.approx(images.samples(picture)[0].mean())
        session.finish()


def test_sessions_share_a_batch(stub):
    picture = images.noise("GRAY8", 6, 4)
    with contextlib.ExitStack() as stack:
        sessions = [
            stack.enter_context(Session(stub, pipeline=pipeline("together"))) for _ in range(3)
        ]
        # The process knows a session from its first frame on.
        for _ in range(2):
            for session in sessions:
                session.send_frame(picture)
            sizes = [
                images.samples(session.receive_until("frame").image)[0] for session in sessions
            ]
        assert all((size == 3).all() for size in sizes)
        for session in sessions:
            session.finish()
