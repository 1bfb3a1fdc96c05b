"""Mattes and face finders of filter processes, as stages of pipelines use them."""

import os
import sys

import numpy as np
import PIL.Image
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from sidelight_testing import images
from sidelight_testing.command import sidelight
from sidelight_testing.contract import REPOSITORY, service
from sidelight_testing.server import Server, connect
from sidelight_testing.session import Session

ENVIRONMENT = {"PYTHONPATH": str(REPOSITORY / "clients/python/src")}
PREFACE = """
import numpy as np
from sidelight.filters_server import Face, FrameContext, face_finder, matte, serve
"""
# The process does what the level of a picture's corner says.
FAIL, WAIT, EXIT, LOSE, BREAK, MARK = 150, 165, 180, 200, 215, 230
FILTERS = PREFACE + """
import os, threading

def has(picture, level):
    return abs(int(picture.flat[0]) - level) < 5

def obey(picture):
    if has(picture, 150):
        raise ValueError("no matte today")
    if has(picture, 165):
        threading.Event().wait(1)
    if has(picture, 180):
        os._exit(3)

@matte("left", summary="The left half.", size=(32, 18))
def left(picture, context: FrameContext):
    obey(picture)
    matte = np.zeros((18, 32), np.uint8)
    matte[:, :16] = 255
    return matte

@matte("gray", summary="Everything, if the format fits.", format="gray", scale=0.5)
def gray(picture):
    assert picture.ndim == 2, picture.shape
    return np.full_like(picture[::2, ::2], 255)

@matte("together", summary="Everything, if two pictures came.", batch=2, wait="1s")
def together(pictures):
    return [np.full(picture.shape[:2], 255 * (len(pictures) == 2), np.uint8) for picture in pictures]

@face_finder("square", summary="Finds a bright square.", format="gray")
def square(picture):
    if has(picture, 200):
        raise RuntimeError("the lens is dirty")
    if has(picture, 215):
        return [Face(float("nan"), 0, 9, 9)]
    rows, columns = np.nonzero(picture[8:, 8:] > 200)
    if not len(rows):
        return []
    x, y = columns.min() + 8, rows.min() + 8
    width, height = columns.max() + 9 - x, rows.max() + 9 - y
    if has(picture, 230):
        eyes = (x + 0.29 * width, y + 0.37 * height), (x + 0.69 * width, y + 0.37 * height)
        return [Face(0, 0, 0, 0, 0.75, (*eyes, (x + width / 2, y + 0.79 * height)))]
    return [Face(x, y, width, height, 0.75)]

serve()
"""
RED = [255, 0, 0]
BACKGROUND = "backgroundColor: #ff0000, lightWrap: 0, smoothing: 0"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    file = tmp_path_factory.mktemp("filters") / "filters.py"
    file.write_text(FILTERS)
    with Server(
        "--filter-process", f"{sys.executable} {file}", environment=ENVIRONMENT
    ) as running:
        yield running
        assert running.process.poll() is None, running.log


@pytest.fixture
def stub(server):
    with connect(server.addresses["unix"]) as channel:
        yield service.FrameFilterStub(channel)


def picture(order: int = 90, face: tuple[int, int] | None = None) -> np.ndarray:
    """A grey picture, with a bright square of 80x80 for a face. An order fills the corner."""
    pixels = np.full((360, 640, 3), 90, np.uint8)
    pixels[:8, :8] = order
    if face:
        x, y = face
        # A pattern that optical flow can follow.
        cells = np.random.default_rng(1).choice(np.array([215, 255], np.uint8), (10, 10, 1))
        pixels[y : y + 80, x : x + 80] = cells.repeat(8, 0).repeat(8, 1)
    return pixels


def image(pixels: np.ndarray):
    height, width, _ = pixels.shape
    return images.make_image("RGB24", width, height, [pixels.reshape(height, -1)])


def filtered(session: Session, pixels: np.ndarray, **fields) -> np.ndarray:
    session.send_frame(image(pixels), **fields)
    result = session.receive_until("frame").image
    return images.samples(result)[0].reshape(result.height, result.width, 3)


def is_left(result: np.ndarray) -> bool:
    """Whether the left half is the picture and the right half the background."""
    person, room = result[20:, :240].astype(int), result[:, 400:]
    return bool((abs(person - 90) < 4).all() and (abs(room.astype(int) - RED) < 4).all())


def is_covered(result: np.ndarray) -> bool:
    return bool((abs(result.astype(int) - RED) < 4).all())


@pytest.mark.parametrize("name", ["left", "square"])
def test_mattes_and_face_finders_have_a_health_status(server, name):
    request = health_pb2.HealthCheckRequest(service=f"sidelight.v1.FrameFilter/{name}")
    with connect(server.addresses["unix"]) as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(request, timeout=60)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_a_matte_of_a_process_separates_the_person(stub):
    with Session(stub, pipeline_text=f"virtualBackground(matte: left, {BACKGROUND})") as session:
        assert all(is_left(filtered(session, picture())) for _ in range(4))
        session.select_text(f"virtualBackground(matte: gray, {BACKGROUND})")
        assert np.array_equal(filtered(session, picture()), picture())


@pytest.mark.parametrize(("order", "reason"), [
    (FAIL, "ValueError: no matte today"), (WAIT, "left has not answered in time"),
])
def test_without_a_matte_a_pipeline_that_protects_covers_the_frame(stub, order, reason):
    with Session(stub, pipeline_text=f"virtualBackground(matte: left, {BACKGROUND})") as session:
        # The matte has half of the budget, and takes a second.
        assert is_covered(filtered(session, picture(order), budget_us=1_500_000))
        # The report may come before the frame, and after it.
        while not session.transcript.analyses:
            session.receive()
        assert reason in session.transcript.analyses[0].words["matteError"]
        assert is_left(filtered(session, picture()))
        session.select_text(f"virtualBackground(matte: left, protect: false, {BACKGROUND})")
        filtered(session, picture())
        filtered(session, picture())
        result = filtered(session, picture(order), budget_us=1_500_000)
        # The last matte is used for every second frame; without one the frame is blurred.
        assert is_left(result) or not (result == RED).all(axis=2).any()


def test_frames_are_covered_until_a_dead_process_is_back(stub, server):
    with (
        server.follow_log() as log,
        Session(stub, pipeline_text=f"virtualBackground(matte: left, {BACKGROUND})") as session,
    ):
        assert is_covered(filtered(session, picture(EXIT)))
        log.wait_for(".*filter process ended.*it exited with status 3.*")
        log.wait_for(".*filter process attached.*")
        assert is_left(filtered(session, picture()))


def test_a_matte_that_leaves_out_a_face_is_not_used(stub):
    with Session(stub, pipeline_text=f"virtualBackground(matte: left, {BACKGROUND})") as session:
        shown = picture(face=(500, 140))
        # A face counts once two searches have found it.
        while not is_covered(filtered(session, shown)):
            assert len(session.sent) < 200


def test_mattes_of_several_sessions_are_computed_together(stub):
    text = f"virtualBackground(matte: together, {BACKGROUND})"
    with Session(stub, pipeline_text=text) as one, Session(stub, pipeline_text=text) as two:
        # The process knows a session from its first frame on, and the stage keeps a matte for a frame.
        for _ in range(3):
            for session in (one, two):
                session.send_frame(image(picture()))
            results = [session.receive_until("frame").image for session in (one, two)]
        assert all(np.array_equal(images.samples(each)[0], picture().reshape(360, -1)) for each in results)


@pytest.mark.parametrize("order", [90, MARK])
def test_a_finder_of_a_process_finds_the_faces(stub, order):
    with Session(stub, pipeline_text="faceDetection(everyNth: 1)") as session:
        found = []
        while not found:
            assert len(session.sent) < 200
            session.send_frame(image(picture(order, face=(200, 120))))
            record, count = session.transcript, len(session.sent)
            while len(record.frames) < count or len(record.analyses) < count:
                session.receive()
            found = record.analyses[-1].detections
    [face] = found
    center = face.x + face.width / 2, face.y + face.height / 2
    assert np.hypot(center[0] - 240, center[1] - 160) < 6 and 70 < face.width < 95
    assert face.confidence == pytest.approx(0.75)


def test_faces_that_a_process_finds_are_blurred(stub):
    with Session(stub, pipeline_text="faceBlur") as session:
        shown = picture(110, face=(200, 120))
        result = filtered(session, shown)
        # The first frames are covered, because they have not been searched; then the corner is seen.
        while result[4, 4, 0] < 107:
            assert len(session.sent) < 200
            result = filtered(session, shown)
        # The edge of the square is blurred.
        assert np.ptp(result[115:125, 220:260, 0]) < 90


@pytest.mark.parametrize("order", [LOSE, BREAK])
def test_a_failed_search_covers_the_frame(stub, order):
    with Session(stub, pipeline_text="faceBlur") as session:
        before = picture(order, face=(200, 120))
        for _ in range(20):
            # The blur of the whole frame takes the square's edges.
            assert np.abs(filtered(session, before).astype(int) - before)[110:130, 190:290].max() > 40


def run(tmp_path, program: str, *arguments: object, fails: bool = False):
    file = tmp_path / "filters.py"
    file.write_text(PREFACE + program + "\nserve()\n")
    return sidelight(
        *arguments, "--filter-process", f"{sys.executable} {file}", fails=fails,
        env=os.environ | ENVIRONMENT,
    )


def test_still_images_use_mattes_and_faces_of_processes(tmp_path):
    for name, pixels in [("plain", picture()), ("face", picture(face=(200, 120)))]:
        PIL.Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    program = FILTERS.partition("import os")[2].replace("serve()", "")
    for name, text in [
        ("plain", f"virtualBackground(matte: left, {BACKGROUND})"), ("face", "faceBlur")
    ]:
        run(tmp_path, f"import os{program}", "apply", tmp_path / f"{name}.png", tmp_path / "out.png",
            "--pipeline", text)
        result = np.asarray(PIL.Image.open(tmp_path / "out.png").convert("RGB"))
        if name == "plain":
            assert is_left(result)
        else:
            assert np.ptp(result[115:125, 220:260, 0]) < 90


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ('@matte("key", summary="S.")\ndef f(p): pass', "filter process: the name key is reserved"),
        (
            '@matte("big", summary="S.", size=(1025, 9))\ndef f(p): pass',
            "the filter 'big': a matte has at most 1024x1024 samples",
        ),
        (
            '@face_finder("a", summary="S.")\ndef f(p): pass\n'
            '@face_finder("b", summary="S.")\ndef g(p): pass',
            "offer the face finders 'a' and 'b'; keep one",
        ),
        ('@matte("a", summary="S.")\ndef f(p, x: int = 1): pass', "it cannot have parameters"),
    ],
)
def test_mistakes_are_errors_at_start(tmp_path, program, error):
    failed = run(tmp_path, program, "filters", fails=True)
    assert error in failed.stderr.decode()


def test_the_names_of_mattes_are_values_of_the_parameter(tmp_path):
    listed = run(tmp_path, '@matte("mine", summary="S.")\ndef f(p): pass', "filters", "--json")
    assert b'"mine"' in listed.stdout


def write_models(folder) -> None:
    """Models with the inputs and outputs of `make models`: red is a person, a bright cell a face."""
    from onnx import TensorProto, helper, numpy_helper, save

    def write(name, nodes, ports, **constants):
        values = [
            numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()
        ]
        inputs, *outputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ports
        ]
        nodes = [helper.make_node(kind, *links, **options) for kind, links, options in nodes]
        graph = helper.make_graph(nodes, name, [inputs], outputs, values)
        opset = helper.make_opsetid("", 13)
        save(helper.make_model(graph, opset_imports=[opset], ir_version=8), folder / f"{name}.onnx")

    write(
        "selfie_segmentation_landscape", [("Conv", (["picture", "red"], ["matte"]), {})],
        [("picture", [1, 3, 18, 32]), ("matte", [1, 1, 18, 32])],
        red=np.array([1, 0, 0], np.float32).reshape(1, 3, 1, 1),
    )
    # In cells of 8 pixels: a box of the cell, and eyes, nose and mouth around its middle.
    points = [0, 0, 8, 8, -1.7, -1, 1.5, -1, 0, 0, 0, 2.3, 0, 0, 0, 0]
    write(
        "face_detection_full_range_sparse",
        [
            ("AveragePool", (["picture"], ["means"]), {"kernel_shape": [8, 8], "strides": [8, 8]}),
            ("Conv", (["means", "weights", "bias"], ["cells"]), {}),
            ("Reshape", (["cells", "shape"], ["scores"]), {}),
            ("Identity", (["points"], ["boxes"]), {}),
        ],
        [("picture", [1, 3, 32, 32]), ("boxes", [1, 16, 16]), ("scores", [1, 16, 1])],
        weights=np.full((1, 3, 1, 1), 10, np.float32), bias=np.array([-12], np.float32),
        shape=np.array([1, 16, 1]), points=np.tile(np.float32(points), (1, 16, 1)),
    )


def test_the_example_counts_covers_and_separates_people(tmp_path):
    for module in ("cv2", "onnx", "onnxruntime"):
        pytest.importorskip(module)
    write_models(tmp_path)
    PIL.Image.new("RGB", (8, 8), (0, 0, 255)).save(tmp_path / "sticker.png")
    # A cell of the detector is 160 pixels wide.
    shown = picture(40)
    shown[160:320, 160:320] = picture(face=(0, 0))[:80, :80].repeat(2, 0).repeat(2, 1)
    program = f"{sys.executable} {REPOSITORY}/Examples/filter-processes/people.py {tmp_path}"
    with (
        Server("--filter-process", program, "--asset", f"sticker={tmp_path}/sticker.png",
               environment=ENVIRONMENT) as server,
        connect(server.addresses["unix"]) as channel,
    ):
        stub = service.FrameFilterStub(channel)
        with Session(stub, pipeline_text="people") as session:
            session.send_frame(image(shown))
            report = session.receive_until("analysis")
        assert report.figures["people"] == 1
        [box] = report.detections
        assert abs(np.array([box.x, box.y, box.width, box.height]) - 160).max() < 4
        with Session(stub, pipeline_text="overlay(asset: sticker, anchor: face, fade: 0)") as session:
            while (filtered(session, shown)[240, 240] != [0, 0, 255]).any():
                assert len(session.sent) < 200
        with Session(stub, pipeline_text="faceBlur") as session:
            # The first frames are covered, because they have not been searched.
            while (result := filtered(session, shown))[4, 4, 0] > 60:
                assert len(session.sent) < 200
            assert np.ptp(result[150:170, 220:260, 0]) < 90
        shown = np.full((360, 640, 3), 90, np.uint8)
        shown[:, :320, 0], shown[:, 320:, 0] = 255, 0
        text = f"virtualBackground(matte: person, protect: false, {BACKGROUND})"
        with Session(stub, pipeline_text=text) as session:
            result = filtered(session, shown).astype(int)
        assert abs(result[:, :240] - [255, 90, 90]).max() < 4
        assert abs(result[:, 400:] - RED).max() < 4
