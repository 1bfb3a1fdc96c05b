"""Filter processes: real ones, attached to a host that the test scripts."""

from __future__ import annotations

import mmap
import queue
import subprocess
import sys
import threading

import grpc
import numpy as np
import pytest
from support.filter_host import PREFACE, FilterHost

from sidelight._values import value_of
from sidelight.filters_server import filter
from sidelight.filters_server._definitions import defined
from sidelight.filters_server._process import _Inbox, _Loop
from sidelight.v1 import filter_process_pb2 as contract

SHAPE = (4, 6, 3)


@pytest.fixture
def start(tmp_path):
    """Starts processes of programs, which are attached, and end with the test."""
    hosts = []

    def start(program: str) -> FilterHost:
        host = FilterHost(tmp_path, program + "\nserve()\n").__enter__()
        hosts.append(host)
        return host

    yield start
    for host in hosts:
        host.__exit__()


SUNSET = """
@filter("sunset", summary="Warms the lower half.", format="rgb")
def sunset(
    picture: np.ndarray, strength: Annotated[float, Range(0, 1), "How much."] = 0.5
) -> None:
    lower = picture[picture.shape[0] // 2:]
    np.multiply(lower[..., 2], 1 - 0.5 * strength, out=lower[..., 2], casting="unsafe")
"""


def test_the_filter_of_the_guide_changes_a_picture_in_place(start):
    host = start(SUNSET)
    [offer] = host.attach().filters
    assert (offer.filter.name, offer.filter.summary) == ("sunset", "Warms the lower half.")
    [strength] = offer.filter.parameters
    assert (strength.limits.minimum, strength.limits.maximum, strength.summary) == (0, 1, "How much.")
    assert not offer.HasField("output") and not offer.is_stateful
    host.open(7, "sunset", strength=1)
    pixels = host.pixels(4096, SHAPE)
    pixels[:] = 200
    number = host.frame(7, 4096, SHAPE)
    assert host.receive("result").frame == number
    assert (pixels[:2] == 200).all() and (pixels[2:, :, :2] == 200).all()
    assert (pixels[2:, :, 2] == 100).all()
    # The parameters of a frame hold from it on.
    for parameters in ({"parameters": {"strength": 0}}, {}):
        pixels[:] = 200
        host.frame(7, 4096, SHAPE, **parameters)
        host.receive("result")
        assert (pixels == 200).all()
    assert host.end() == ""


def test_parameters_arrive_as_their_annotations_say(start):
    host = start(
        """
class Mode(enum.Enum):
    SOFT = "soft"
    HARD = "hard"

@filter("show")
def show(picture, count: int = 3, *, is_on: bool = True, mode: Mode = Mode.SOFT,
         side: Literal["left", "right"] = "left", name: str = "a b",
         tint: RGBA = RGBA(1, 0, 0.5)) -> None:
    "Prints its parameters."
    print(count, is_on, mode, side, name, tint)
"""
    )
    [offer] = host.attach().filters
    assert offer.filter.summary == "Prints its parameters."
    names = [parameter.name for parameter in offer.filter.parameters]
    assert names == ["count", "isOn", "mode", "side", "name", "tint"]
    defaults = {each.name: value_of(each.default_value) for each in offer.filter.parameters}
    host.open(1, "show", **defaults)
    host.frame(1, 0, (2, 2, 4))
    host.receive("result")
    host.frame(1, 0, (2, 2, 4), parameters={**defaults, "count": 5, "mode": "hard", "isOn": False})
    host.receive("result")
    assert host.end().splitlines() == [
        "3 True Mode.SOFT left a b RGBA(red=1.0, green=0.0, blue=0.5, alpha=1.0)",
        "5 False Mode.HARD left a b RGBA(red=1.0, green=0.0, blue=0.5, alpha=1.0)",
    ]


def test_a_new_picture_has_the_size_of_the_offer(start):
    host = start(
        """
@filter("double", summary="Doubles the size.", format="gray", scale=2)
def double(picture):
    return picture.repeat(2, 0).repeat(2, 1)

@filter("wrong", summary="Returns another size.", format="gray", size=(5, 5))
def wrong(picture) -> np.ndarray:
    return picture

@filter("floats", summary="Returns another type.", format="gray")
def floats(picture):
    return picture / 2

@filter("plain", summary="Writes into its picture.", format="gray")
def plain(picture):
    picture[:] = 9
"""
    )
    double, wrong, floats, plain = host.attach().filters
    assert double.output.scale == 2
    assert (wrong.output.width, wrong.output.height) == (5, 5)
    assert floats.HasField("output") and plain.HasField("output")
    for session, name in enumerate(["double", "wrong", "floats", "plain"]):
        host.open(session, name)
    source = host.pixels(0, (2, 3))
    source[:] = np.arange(6).reshape(2, 3)
    # Rows of the output have padding.
    padded = host.pixels(4096, (4, 10))
    padded[:] = 77
    host.frame(0, 0, (2, 3), output=host.picture(4096, (4, 6), padding=4))
    host.receive("result")
    assert (padded[:, :6] == source.repeat(2, 0).repeat(2, 1)).all() and (padded[:, 6:] == 77).all()
    host.frame(1, 0, (2, 3), output=host.picture(4096, (5, 5)))
    failed = host.receive("failed")
    assert "shape (2, 3); it must be (5, 5)" in failed.message and not failed.detail
    host.frame(2, 0, (2, 3), output=host.picture(4096, (2, 3)))
    assert "ndarray of float64 instead of an array of uint8" in host.receive("failed").message
    host.frame(3, 0, (2, 3), output=host.picture(4096, (2, 3)))
    host.receive("result")
    assert (host.pixels(4096, (2, 3)) == 9).all()


@pytest.mark.parametrize(("format", "shapes"), [
    ("i420", [(5, 7), (3, 4), (3, 4)]),
    ("nv12", [(5, 7), (3, 4, 2)]),
])
def test_planes_of_odd_pictures_are_arrays(start, format, shapes):
    host = start(
        f"""
@filter("planes", summary="Writes into all planes.", format="{format}")
def planes(picture: tuple[np.ndarray, ...]) -> None:
    assert [plane.shape for plane in picture] == {shapes}, [plane.shape for plane in picture]
    for index, plane in enumerate(picture):
        plane[:] = index + 1
"""
    )
    host.attach()
    host.open(1, "planes")
    places = [{"offset": 1000 * index, "stride": 16} for index in range(len(shapes))]
    host.frame(1, 0, (), input={"width": 7, "height": 5, "planes": places})
    host.receive("result")
    for index, shape in enumerate(shapes):
        row = int(np.prod(shape[1:]))
        rows = host.pixels(1000 * index, (shape[0], 16))
        assert (rows[:, :row] == index + 1).all() and (rows[:, row:] == 0).all()


def test_a_class_has_an_instance_for_every_session(start):
    host = start(
        """
@filter("count", summary="Writes the number of the frame.", format="gray")
class Count:
    def __init__(self):
        self.frames = 0

    def process(self, picture, step: int = 1, *, context: FrameContext) -> None:
        assert (context.width, context.height, context.label) == (2, 2, "")
        self.frames += step
        picture[:] = [[self.frames, context.sequence], [context.orientation.rotation, 0]]

    def close(self):
        print("closed after", self.frames)
"""
    )
    [offer] = host.attach().filters
    assert offer.is_stateful
    host.open(1, "count", step=1)
    host.open(2, "count", step=10)
    for _ in range(2):
        for session in (1, 2):
            host.frame(session, 64 * session, (2, 2), sequence=40, orientation={"rotation": 1})
            host.receive("result")
    assert host.pixels(64, (4,)).tolist() == [2, 40, 90, 0]
    assert host.pixels(128, (4,)).tolist() == [20, 40, 90, 0]
    host.send(close_session={"session": 2})
    assert sorted(host.end().splitlines()) == ["closed after 2", "closed after 20"]


def test_an_exception_fails_its_frame_only(start):
    host = start(
        """
@filter("divide", summary="Fails at zero.", format="gray")
def divide(picture, by: float = 1.0) -> None:
    picture[:] = 8 / by

@filter("locked", summary="Cannot be opened.", format="gray")
class Locked:
    def __init__(self):
        raise OSError("no model")

    def process(self, picture) -> None:
        pass
"""
    )
    host.attach()
    host.open(1, "divide", by=0)
    number = host.frame(1, 0, (1, 1))
    failed = host.receive("failed")
    assert failed.frame == number
    assert failed.message == "ZeroDivisionError: float division by zero"
    assert "in divide\n    picture[:] = 8 / by" in failed.detail
    assert "filters_server" not in failed.detail
    host.frame(1, 0, (1, 1), parameters={"by": 2})
    host.receive("result")
    assert host.memory[0] == 4
    host.send(open_session={"session": 2, "filter": "locked"})
    assert host.receive("refused").message == "OSError: no model"
    # Frames of a refused session get no answer.
    host.frame(2, 0, (1, 1))
    number = host.frame(1, 0, (1, 1))
    assert host.receive("result").frame == number


def test_analyses_return_values_and_do_not_write(start):
    host = start(
        """
@analysis("light", summary="Measures.", format="gray", every_nth=5)
def light(picture, write: bool = False):
    if write:
        picture[:] = 0
    return {"mean": picture.mean(), "word": "bright"}

@analysis("boxes", summary="Finds.", format="gray")
def boxes(picture):
    found = Detection("cat", 3, 0.5, 1, 2, 3, 4)
    return Results({"cats": 1}, [found], rows={"row": [1, 2]})

@analysis("nothing", summary="Returns another type.", format="gray")
def nothing(picture):
    return 5
"""
    )
    light, _, _ = host.attach().filters
    assert light.every_nth == 5
    for session, name in enumerate(["light", "boxes", "nothing"]):
        host.open(session, name)
    host.pixels(0, (2, 2))[:] = 50
    host.frame(0, 0, (2, 2))
    values = host.receive("result").analysis
    assert dict(values.figures) == {"mean": 50} and dict(values.words) == {"word": "bright"}
    host.frame(1, 0, (2, 2))
    values = host.receive("result").analysis
    assert values.detections[0].kind == "cat" and values.detections[0].height == 4
    assert list(values.rows["row"].values) == [1, 2]
    host.frame(2, 0, (2, 2))
    assert "int instead of Results" in host.receive("failed").message
    host.frame(0, 0, (2, 2), parameters={"write": True})
    assert "read-only" in host.receive("failed").message


def test_a_matte_is_a_gray_picture_of_its_own_size(start):
    host = start(
        """
@matte("right", summary="Takes the right half for the person.", size=(4, 2), batch=2)
def right(pictures, contexts: list[FrameContext]):
    assert all(picture.shape == (3, 5, 3) for picture in pictures)
    matte = np.zeros((2, 4), np.uint8)
    matte[:, 2:] = [len(context.faces) + 250 for context in contexts][0]
    return [matte] * len(pictures)

@matte("floats", summary="Returns another type.", format="gray")
def floats(picture):
    return picture / 255

@matte("writes", summary="Writes.", format="gray")
def writes(picture):
    picture[:] = 0
"""
    )
    right, floats, _ = host.attach().filters
    assert right.kind == contract.FILTER_KIND_MATTE and not right.is_stateful
    assert (right.output.width, right.output.height) == (4, 2)
    assert floats.HasField("output") and not floats.output.width
    for session, name in enumerate(["right", "floats", "writes"]):
        host.open(session, name)
    face = {"kind": "face", "x": 1, "y": 1, "width": 2, "height": 2}
    host.frame(0, 0, (3, 5, 3), output=host.picture(4096, (2, 4)), faces=[face])
    host.receive("result")
    assert host.pixels(4096, (2, 4)).tolist() == [[0, 0, 251, 251]] * 2
    host.frame(1, 0, (3, 5), output=host.picture(4096, (3, 5)))
    assert "ndarray of float64 instead of an array of uint8" in host.receive("failed").message
    host.frame(2, 0, (3, 5), output=host.picture(4096, (3, 5)))
    assert "read-only" in host.receive("failed").message


def test_a_face_finder_returns_boxes_and_landmarks(start):
    host = start(
        """
@face_finder("look", summary="Finds.", format="gray")
def look(picture):
    points = [(1, 2), (3, 2), (2, 4)]
    found = [Face(1, 2, 3, 4, 0.5), Face(0, 0, 1, 1, landmarks=points)]
    return {0: found, 1: found * 40, 2: 5, 3: []}[int(picture[0, 0])]
"""
    )
    [offer] = host.attach().filters
    assert offer.kind == contract.FILTER_KIND_FACES and not offer.HasField("output")
    host.open(1, "look")
    host.frame(1, 0, (2, 2))
    box, points = host.receive("result").faces
    assert (box.x, box.y, box.width, box.height, box.confidence) == (1, 2, 3, 4, 0.5)
    assert not box.HasField("landmarks") and points.confidence == 1
    assert (points.landmarks.right_eye_x, points.landmarks.mouth_y) == (3, 4)
    for level, message in [(1, "80 faces; at most 64"), (2, "int instead of a list of Face")]:
        host.memory[0] = level
        host.frame(1, 0, (2, 2))
        assert message in host.receive("failed").message
    host.memory[0] = 3
    host.frame(1, 0, (2, 2))
    assert not host.receive("result").faces


def test_frames_of_several_sessions_arrive_together(start):
    host = start(
        """
@filter("batch", summary="Writes the size of the batch.", format="gray", batch=3, wait="1s")
def batch(pictures, level: int = 0, *, contexts: list[FrameContext]) -> None:
    for picture, context in zip(pictures, contexts):
        picture[:] = 10 * len(pictures) + level + context.sequence
"""
    )
    host.attach()
    for session in range(1, 6):
        # Two of the sessions have other parameters.
        host.open(session, "batch", level=int(session > 3))
    numbers = {host.frame(session, 64 * session, (1, session), sequence=session) for session in range(1, 6)}
    assert {host.receive("result").frame for _ in range(5)} == numbers
    written = [host.pixels(64 * session, (1, session)).tolist() for session in range(1, 6)]
    assert written == [[[31]], [[32] * 2], [[33] * 3], [[25] * 4], [[26] * 5]]
    for session in range(2, 6):
        host.send(close_session={"session": session})
    # A single session waits for no one, and a late frame for nothing.
    host.frame(1, 64, (1, 1), sequence=1)
    host.receive("result")
    assert host.memory[64] == 11


def test_a_frame_fails_no_other_frame_of_its_batch(start):
    host = start(
        """
@filter("invert", summary="Inverts in place; fails for black.", format="gray", batch=3, wait="1s")
def invert(pictures) -> None:
    for picture in pictures:
        picture[:] = 255 - picture
        assert picture.min() < 255, "it was black"
"""
    )
    host.attach()
    for session in range(1, 4):
        host.open(session, "invert")
    host.memory[64], host.memory[128], host.memory[192] = 5, 0, 7
    numbers = [host.frame(session, 64 * session, (1, 1)) for session in range(1, 4)]
    first, failed, last = host.receive("result"), host.receive("failed"), host.receive("result")
    assert [first.frame, failed.frame, last.frame] == numbers
    assert "it was black" in failed.message
    assert (host.memory[64], host.memory[192]) == (250, 248)


def test_a_cancelled_frame_is_answered_without_work():
    calls = []
    worked, was_read, ends = (threading.Event() for _ in range(3))

    @filter("slow", summary="Waits for the cancellation of the next frame.", format="gray")
    def slow(picture) -> None:
        calls.append(picture)
        worked.set()
        assert was_read.wait(60)

    def messages():
        yield contract.HostMessage(welcome={"version": 1})
        for session in (1, 2):
            yield contract.HostMessage(open_session={"session": session, "filter": "slow"})
            yield contract.HostMessage(frame={"frame": session, "session": session, "input": {
                "width": 1, "height": 1, "planes": [{"offset": 0, "stride": 1}]}})
        assert worked.wait(60)
        yield contract.HostMessage(cancel={"frame": 2})
        was_read.set()
        assert ends.wait(60)

    answers = queue.SimpleQueue()
    loop = _Loop(defined(), mmap.mmap(-1, 4096), _Inbox(messages()), answers)
    thread = threading.Thread(target=loop.run)
    thread.start()
    kinds = [answers.get(timeout=60) for _ in range(4)]
    ends.set()
    thread.join(60)
    assert [each.WhichOneof("kind") for each in kinds] == ["opened", "result", "opened", "failed"]
    assert (kinds[3].failed.frame, kinds[3].failed.message) == (2, "the frame was cancelled")
    assert len(calls) == 1


def test_printing_is_logging(start):
    host = start(
        """
@filter("loud", summary="Prints.", format="gray")
def loud(picture) -> None:
    print("to the log")
    print("broken \\udcff text", 3 * "\\0")
"""
    )
    host.attach()
    host.open(1, "loud")
    host.frame(1, 0, (1, 1))
    host.receive("result")
    assert host.end() == "to the log\nbroken \\udcff text \0\0\0\n"


def test_a_refused_process_says_why(tmp_path):
    program = SUNSET + "\nserve()\n"
    with FilterHost(tmp_path, program, grpc.StatusCode.INVALID_ARGUMENT) as host:
        printed, _ = host.process.communicate(timeout=60)
        assert host.process.returncode == 1
        assert printed == "the host refused the filters: name is taken; it must be another\n"


def run(tmp_path, program: str) -> subprocess.CompletedProcess:
    script = tmp_path / "filters.py"
    script.write_text(PREFACE + program)
    return subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
    )


def test_a_file_that_is_started_by_hand_says_how_to_start_it(tmp_path):
    finished = run(tmp_path, SUNSET + "\nserve()\n")
    assert finished.returncode == 2
    assert "  sunset(strength: 0.5)\n" in finished.stderr
    assert "sidelight serve --filter-process 'python3 filters.py'\n" in finished.stderr


def test_a_file_without_serve_says_so(tmp_path):
    assert "serve() was not called" in run(tmp_path, SUNSET).stderr
    finished = run(tmp_path, SUNSET + "\nraise ValueError('other')\n")
    assert "serve()" not in finished.stderr and "ValueError: other" in finished.stderr


PICTURE = "picture"
MISUSES = [
    ("the name of the filter is 'a b'", 'filter("a b")', PICTURE),
    ("the decorator has no name", "filter", PICTURE),
    ("format is 'yuv'; it must be one of bgra", 'filter("f", format="yuv")', PICTURE),
    ("batch is 100; it must be an integer from 1 to 64", 'filter("f", batch=100)', PICTURE),
    ("wait is '4'; it must be a duration", 'filter("f", wait="4")', PICTURE),
    ("scale is 99; it must be", 'filter("f", scale=99)', PICTURE),
    ("size is 5; it must be a width and a height", 'filter("f", size=5)', PICTURE),
    ("filter 'f' has no summary", 'filter("f")', PICTURE),
    ("every_nth is 0; it must be", 'analysis("f", every_nth=0)', PICTURE),
    *(
        (expected, 'filter("f", summary="S.")', f"{PICTURE}, {arguments}")
        for expected, arguments in [
            ("a has no default", "a: Annotated[float, Range(0, 1)]"),
            ("a has no annotation", "a=1"),
            ("a is ndarray; it must be bool", "a: np.ndarray = 1"),
            ("annotations cannot be read: name 'Missing'", "a: 'Missing' = 1"),
            ("default is 1.5; it must be an integer", "a: int = 1.5"),
            ("default is 2; it must be a finite number", "a: Annotated[float, Range(0, 1)] = 2"),
            ("default is 'z'; it must be one of x, y", "a: Literal['x', 'y'] = 'z'"),
            ("default is 1; it must be a value of the type bool", "a: bool = 1"),
            ("only int and float take one", "a: Annotated[str, Range(0, 1)] = ''"),
            ("maximum is 0; it must be more than", "a: Annotated[float, Range(1, 0)] = 1"),
            ("the argument *a cannot be a parameter", "*a"),
            ("two parameters have the name maxSize", "max_size: int = 1, maxSize: int = 1"),
            ("annotate c with FrameContext", "c: list[FrameContext]"),
        ]
    ),
    ("the function has no argument for the picture", 'filter("f", summary="S.")', ""),
    ("the decorator has no name; write @face_finder", "face_finder", PICTURE),
    ("matte 'f' is annotated to return None", 'matte("f", summary="S.")', PICTURE),
    ("face finder 'f' is annotated to return None", 'face_finder("f", summary="S.")', PICTURE),
]


def test_misuse_is_an_error_at_start(tmp_path):
    tests = [
        f"try:\n    @{decorator}\n    def f({arguments}) -> None: pass\n"
        "except Exception as error:\n    print(error)\nelse:\n    print('no error')\n"
        for _, decorator, arguments in MISUSES
    ]
    printed = run(tmp_path, "".join(tests)).stdout.splitlines()
    assert len(printed) == len(MISUSES)
    for (expected, _, _), line in zip(MISUSES, printed):
        assert expected in line


def test_wrong_classes_and_repeated_names_are_errors_at_start(tmp_path):
    program = """
class WithoutProcess: pass
class WithArgument:
    def __init__(self, path): pass
    def process(self, picture) -> None: pass
class Plain:
    def process(self, picture) -> None: pass
async def later(picture) -> None: pass
for target, options in [(WithoutProcess, {}), (WithArgument, {}), (Plain, {"batch": 2}),
                        (later, {}), (print, {}), (Plain, {}), (Plain, {}), (Plain, {"scale": 2})]:
    try:
        filter("f", summary="S.", **options)(target)
    except Exception as error:
        print(error)
"""
    printed = run(tmp_path, program).stdout.splitlines()
    expected = [
        "the class WithoutProcess has no method process",
        "__init__ has the argument path",
        "a class is for one session",
        "a coroutine or generator cannot filter frames",
        "decorate a function or a class",
        "is defined twice; rename one of them",
        "changes the picture in place; it has no size or scale",
    ]
    assert len(printed) == len(expected)
    for text, line in zip(expected, printed):
        assert text in line
