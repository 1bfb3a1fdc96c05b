"""The packages in Examples/, and their code in the documentation."""

import contextlib
import re
import subprocess
import tempfile
from pathlib import Path

import grpc
import numpy as np
import pytest

from sidelight_testing import formulas, images
from sidelight_testing.contract import REPOSITORY, catalogue, frame_filter, service
from sidelight_testing.contract import image as image_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.link import ADDRESSES, CLIENT, SERVER, Conditions
from sidelight_testing.server import Server, binary
from sidelight_testing.session import Session, pipeline

OWN = {
    "brittle": catalogue.REACH_FRAME,
    "emboss": catalogue.REACH_NEIGHBORHOOD,
    "meanLuma": catalogue.REACH_FRAME,
    "scanlines": catalogue.REACH_PIXEL,
    "slow": catalogue.REACH_FRAME,
    "tint": catalogue.REACH_PIXEL,
    "upsideDown": catalogue.REACH_FRAME,
}
# Filters of the command that the example lacks: they need further modules.
OF_THE_COMMAND = {
    "aztecCodeGenerator", "barcode", "code128BarcodeGenerator", "faceBlur", "faceDetection",
    "facePixellate", "pDF417BarcodeGenerator", "qRCodeGenerator",
}
WIDTH, HEIGHT = 45, 28


def program(name: str) -> Path:
    """The program that dev/build examples built, next to the command."""
    path = binary().parent / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not built; run dev/build examples")
    return path


@contextlib.contextmanager
def example_server(name: str):
    """A client of an example server."""
    with tempfile.TemporaryDirectory(prefix="sidelight-") as folder:
        address = f"unix:{folder}/socket"
        process = subprocess.Popen([program(name), address], stderr=subprocess.PIPE)
        try:
            with grpc.insecure_channel(address) as channel:
                grpc.channel_ready_future(channel).result(timeout=60)
                yield service.FrameFilterStub(channel)
            process.terminate()
            _, log = process.communicate(timeout=60)
            assert process.returncode == 0, log.decode()
        finally:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def custom():
    with example_server("CustomFilters") as stub:
        yield stub


@pytest.fixture(scope="module")
def colors() -> np.ndarray:
    return np.random.default_rng(12).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


def filtered(stub, colors: np.ndarray, wanted) -> np.ndarray:
    """One frame through a session."""
    with Session(stub, pipeline=wanted, drop_policy=messages.DROP_POLICY_NEVER_DROP) as session:
        session.send_frame(images.rgb_image(colors))
        (frame,) = session.finish().frames
    return images.rgb(frame.image).astype(np.float64)


def test_custom_and_built_in_filters_are_listed(custom, stub):
    listed = custom.ListFilters(frame_filter.ListFiltersRequest(), timeout=60).filters
    built_in = stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=60).filters
    expected = {each.name for each in built_in} - OF_THE_COMMAND | set(OWN)
    assert {each.name for each in listed} == expected
    for each in listed:
        if each.name in OWN:
            assert each.fidelity == catalogue.FIDELITY_CUSTOM
            assert each.reach == OWN[each.name]
            assert each.summary
            request = frame_filter.DescribeFilterRequest(name=each.name)
            assert custom.DescribeFilter(request, timeout=60).filter == each


def test_scanlines_darkens_every_other_row(custom, colors):
    expected = colors.astype(np.float64)
    expected[1::2] *= 0.6
    assert formulas.difference(filtered(custom, colors, pipeline("scanlines")), expected) <= 1


def test_emboss_shows_gradients_and_repeats_the_edges(custom, colors):
    luma = np.pad(colors.astype(np.float64) @ formulas.REC_709, 1, mode="edge")
    slope = luma[2:, 2:] - luma[:-2, :-2]
    expected = np.repeat((slope + 127.5)[..., None], 3, axis=-1)
    assert formulas.difference(filtered(custom, colors, pipeline("emboss")), expected) <= 1


def test_upside_down_flips_the_frame(custom, colors):
    assert np.array_equal(filtered(custom, colors, pipeline("upsideDown")), colors[::-1])
    for name in images.RAW_FORMATS:
        image = images.noise(name, WIDTH, HEIGHT)
        request = frame_filter.ApplyRequest(image=image, pipeline=pipeline("upsideDown"))
        result = custom.Apply(request, timeout=60).image
        for plane, was in zip(images.samples(result), images.samples(image), strict=True):
            assert np.array_equal(plane, was[::-1])


def test_slow_takes_its_time_and_turns_the_frame_over(custom, colors):
    with Session(custom, pipeline=pipeline(("slow", {"seconds": 0.2}))) as session:
        session.send_frame(images.rgb_image(colors))
        (frame,) = session.finish().frames
    assert np.array_equal(images.rgb(frame.image), colors[::-1])
    # A lower bound, which no other work of the machine can break.
    assert frame.timing.process_us >= 200_000


def test_the_analysis_does_not_change_frames(custom, colors):
    assert np.array_equal(filtered(custom, colors, pipeline("meanLuma")), colors)


def test_analysis_results_arrive_with_the_frames(custom):
    image = images.noise("GRAY8", WIDTH, HEIGHT)
    with Session(custom, pipeline=pipeline("meanLuma")) as session:
        session.send_frame(image)
        transcript = session.finish()
    (analysis,) = transcript.analyses
    assert (analysis.filter, analysis.stage) == ("meanLuma", "stages[0]")
    assert analysis.sequence == session.sent[0]
    (samples,) = images.samples(image)
    assert abs(analysis.figures["mean"] - samples.mean()) < 1e-6


def test_tint_mixes_with_its_colour_by_its_amount(custom, colors):
    expected = colors * 0.6 + np.array([255, 127.5, 0]) * 0.4
    tinted = filtered(custom, colors, pipeline(("tint", {"amount": 0.4})))
    assert formulas.difference(tinted, expected) <= 1
    request = frame_filter.CheckPipelineRequest(text="tint(amount: 2)")
    with pytest.raises(grpc.RpcError, match="amount"):
        custom.CheckPipeline(request, timeout=60)


def test_custom_filters_combine_with_built_in_ones(custom, colors):
    wanted = pipeline("colorInvert", "scanlines", "tint", "upsideDown", "colorInvert")
    expected = 255 - colors.astype(np.float64)
    expected[1::2] *= 0.6
    expected = 255 - (expected * 0.75 + np.array([255, 127.5, 0]) * 0.25)[::-1]
    assert formulas.difference(filtered(custom, colors, wanted), expected) <= 2
    request = frame_filter.CheckPipelineRequest(pipeline=wanted)
    request.format = image_messages.PIXEL_FORMAT_BGRA8
    passes = custom.CheckPipeline(request, timeout=60).passes
    assert [list(each.filters) for each in passes] == [
        ["colorInvert", "scanlines", "tint"],
        ["upsideDown"],
        ["colorInvert"],
    ]


@contextlib.contextmanager
def vision_server(is_process: bool):
    """A client of a server with the finder and the matte of CustomVision."""
    if not is_process:
        with example_server("CustomVision") as stub:
            yield stub
        return
    with (
        Server("--filter-process", program("CustomVision")) as server,
        grpc.insecure_channel(server.addresses["unix"]) as channel,
    ):
        yield service.FrameFilterStub(channel)


IN_PROCESS = pytest.mark.parametrize("is_process", [False, True], ids=["server", "process"])


@IN_PROCESS
def test_a_custom_matte_separates_what_is_dark(is_process):
    colors = np.full((180, 320, 3), 220, dtype=np.uint8)
    colors[:, :160] = 60
    name = "virtualBackground(matte: dark, protect: false, lightWrap: 0, backgroundColor: #ff0000)"
    with vision_server(is_process) as stub, Session(stub, pipeline_text=name) as session:
        session.send_frame(images.rgb_image(colors))
        result = images.rgb(session.receive_until("frame").image).astype(int)
        session.finish()
    assert abs(result[:, :120] - 60).max() < 4
    assert abs(result[:, 200:] - [255, 0, 0]).max() < 4


@IN_PROCESS
def test_a_custom_finder_follows_a_marker(is_process):
    side, size = 60, (360, 640)
    with vision_server(is_process) as stub:
        wanted = pipeline(("faceDetection", {"everyNth": 1}))
        with Session(stub, pipeline=wanted, analysis_only=True) as session:
            for frame in range(10):
                colors = np.full((*size, 3), 120, dtype=np.uint8)
                left = 100 + 12 * frame
                colors[150 : 150 + side, left : left + side] = (255, 0, 255)
                session.send_frame(images.rgb_image(colors))
                found = session.receive_until("analysis")
            session.finish()
    (face,) = found.detections
    assert (face.kind, face.tracking_id) == ("face", 1)
    assert abs(face.x + face.width / 2 - (left + side / 2)) < side / 4
    assert abs(face.y + face.height / 2 - (150 + side / 2)) < side / 8
    assert abs(face.width - side) < side / 4


def test_the_call_server_receives_frames_of_both_pipelines(server):
    finished = subprocess.run(
        [program("CallServer"), server.addresses["unix"]], capture_output=True, timeout=60
    )
    assert finished.returncode == 0, finished.stderr.decode()
    said = finished.stdout.decode()
    came_back = int(re.match(r"(\d+) frames came back, filtered by 2 pipelines", said).group(1))
    dropped = sum(int(count) for count in re.findall(r"(\d+) dropped", said))
    assert came_back > 0 and came_back + dropped == 90


@pytest.fixture
def camera(tmp_path, info) -> Path:
    """A video of 6 s with much detail."""
    if not any(each.encodes for each in info.codecs):
        pytest.skip("this server is built without the codecs")
    width, height = 320, 180
    with open(tmp_path / "camera.y4m", "wb") as file:
        file.write(b"YUV4MPEG2 W320 H180 F30:1 Ip C420jpeg\n")
        rows, columns = np.mgrid[:height, :width]
        noise = np.random.default_rng(4).integers(0, 40, (height, 2 * width))
        for index in range(180):
            luma = 60 + (rows + columns) // 4 + noise[:, index : index + width]
            file.write(b"FRAME\n" + luma.astype(np.uint8).tobytes())
            file.write(bytes([128]) * (width * height // 2))
    return tmp_path / "camera.y4m"


@pytest.mark.parametrize("codec", ["h264", "vp8", "vp9"])
def test_the_device_receives_the_frames_that_it_offloads(server, camera, codec):
    finished = subprocess.run(
        [program("offload-device"), server.addresses["tcp"], camera, "1500000", codec],
        capture_output=True, timeout=120,
    )
    assert finished.returncode == 0, finished.stderr.decode()
    *seconds, totals = finished.stdout.decode().splitlines()
    assert len(seconds) == 5
    sent, left_out, shown, dropped = map(int, re.findall(r"(\d+) [a-z]", totals)[:4])
    # A busy machine leaves many out, and drops late ones: of 118 that were sent as VP9, it showed 80.
    assert sent + left_out == 180 and shown + dropped == sent
    assert shown > sent / 3, totals


def test_the_device_adapts_to_a_slow_link(make_link, camera):
    """A link of 500 kbit/s for an encoder that wishes 4 Mbit/s."""
    link = make_link(Conditions(rate=500e3, delay=0.02), Conditions(rate=10e6, delay=0.02))
    with Server(within=link.command(SERVER), host=ADDRESSES[SERVER]) as server:
        finished = subprocess.run(
            [
                *(*link.command(CLIENT), program("offload-device"), server.addresses["tcp"]),
                *(camera, "4000000"),
            ],
            capture_output=True, timeout=120,
        )
    assert finished.returncode == 0, finished.stderr.decode()
    said = finished.stdout.decode()
    targets = [int(each) for each in re.findall(r"of (\d+) kbit/s", said)]
    assert max(targets[-2:]) < 600, said
    sent, _, shown, dropped = map(int, re.findall(r"(\d+) [a-z]", said.splitlines()[-1])[:4])
    assert shown > sent / 2 and shown + dropped == sent, said


@pytest.mark.parametrize(
    "arguments", [(), ("127.0.0.1:1",), ("127.0.0.1:1", "in.y4m", "1000000", "av2")], ids=str
)
def test_the_device_prints_its_usage(arguments):
    finished = subprocess.run(
        [program("offload-device"), *arguments], capture_output=True, timeout=60
    )
    assert finished.returncode == 64
    assert b"usage: offload-device ADDRESS FILE.y4m" in finished.stdout


@pytest.mark.parametrize(
    "name, example, count",
    [("writing-filters", "CustomFilters", 6), ("models", "CustomVision", 2)],
)
def test_the_documentation_shows_the_code_of_the_examples(name, example, count):
    page = (REPOSITORY / f"docs/guides/{name}.md").read_text()
    sources = REPOSITORY / "Examples" / example / "Sources" / example
    shown = re.findall(r"```swift\n(.*?)```", page, flags=re.DOTALL)
    code = [" ".join(path.read_text().split()) for path in sorted(sources.glob("*.swift"))]
    assert len(shown) >= count
    for snippet in shown:
        assert any(" ".join(snippet.split()) in each for each in code), snippet


def test_custom_filters_run_in_a_process_of_their_own():
    picture = images.noise("BGRA8", WIDTH, HEIGHT)
    with (
        Server("--filter-process", program("CustomFilters")) as server,
        grpc.insecure_channel(server.addresses["unix"]) as channel,
    ):
        stub = service.FrameFilterStub(channel)
        with Session(stub, pipeline_text="upsideDown") as session:
            session.send_frame(picture)
            result = session.receive_until("frame").image
            assert np.array_equal(images.samples(result)[0], images.samples(picture)[0][::-1])
            # It traps at small frames, and is started again.
            session.select_text("brittle")
            session.send_frame(images.noise("BGRA8", 8, 8))
            assert "ended by signal" in session.receive_until("frame").failure.message
        with Session(stub, pipeline_text="sepiaTone") as session:
            session.send_frame(picture)
            session.receive_until("frame")
