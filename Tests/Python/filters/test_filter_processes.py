"""Filters of another process, written in Python by the contract alone (`filter_peer`)."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import duration_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from PIL import Image

from sidelight_testing import images
from sidelight_testing.command import sidelight
from sidelight_testing.contract import REPOSITORY, TESTS, frame_filter, service
from sidelight_testing.contract import pipeline as policies
from sidelight_testing.contract import session as messages
from sidelight_testing.process import wait_until
from sidelight_testing.server import Server, binary, connect
from sidelight_testing.session import Session, pipeline

PEER = f"{sys.executable} -m sidelight_testing.filter_peer"
DROP = policies.FAILURE_POLICY_DROP
PORTRAIT = REPOSITORY / "Examples/media/portrait.jpg"


@pytest.fixture(scope="module")
def environment(with_contract) -> dict[str, str]:
    return with_contract | {"PYTHONPATH": f"{with_contract['PYTHONPATH']}:{TESTS}"}


@pytest.fixture(scope="module")
def host(environment):
    with Server("--filter-process", PEER, environment=environment) as running:
        yield running
        assert running.process.poll() is None, running.log
        assert running.terminate() == 0


@pytest.fixture
def stub(host):
    with connect(host.addresses["unix"]) as channel:
        yield service.FrameFilterStub(channel)


@pytest.fixture
def picture():
    return images.noise("RGB24", 64, 36)


def flat(format: str, width: int, height: int, level: int):
    """A picture of one grey."""
    planes = [
        np.full((rows, row_bytes), 128 if plane else level, np.uint8)
        for plane, (row_bytes, rows) in enumerate(images.plane_shapes(format, width, height))
    ]
    if format == "BGRA8":
        planes[0][:, 3::4] = 255
    if format in ("I420", "NV12"):
        planes[0][:] = round(16 + 219 * level / 255)
    return images.make_image(format, width, height, planes)


def pixels(image) -> np.ndarray:
    return images.samples(image)[0]


def filtered(session: Session, picture, **fields) -> np.ndarray:
    session.send_frame(picture, **fields)
    return pixels(session.receive_until("frame").image)


def peer(host) -> int:
    """The ID of the process that was started last."""
    return int(re.findall(r"filter process started.*?pid\"?[=:]\s*\"?(\d+)", host.log)[-1])


def test_the_catalogue_lists_the_filters(stub):
    filters = {each.name: each for each in stub.ListFilters(frame_filter.ListFiltersRequest()).filters}
    negate = filters["negate"]
    assert negate.category == "custom" and negate.summary == "The test's negate."
    assert [parameter.name for parameter in negate.parameters] == ["amount"]
    assert filters["mean"].category == "analysis"


@pytest.mark.parametrize("format", ["BGRA8", "RGB24", "GRAY8", "I420", "NV12"])
def test_a_filter_changes_frames_of_every_format_in_place(stub, format):
    original = images.noise(format, 65, 37) if format == "RGB24" else flat(format, 65, 37, 60)
    with Session(stub, pipeline_text="negate") as session:
        result = filtered(session, original)
    if format == "RGB24":
        assert np.array_equal(result, 255 - pixels(original))
    elif format in ("I420", "NV12"):
        # Video range: 16 + 219 * 60 / 255 becomes 16 + 219 * 195 / 255.
        assert abs(result.astype(int) - 183).max() <= 2
    else:
        assert abs(result.reshape(37, 65, -1)[..., 0].astype(int) - 195).max() <= 1


def test_parameters_change_between_frames(stub, picture):
    with Session(stub, pipeline_text="negate(amount: 0)") as session:
        assert np.array_equal(filtered(session, picture), pixels(picture))
        session.select_text("negate(amount: 1)")
        assert np.array_equal(filtered(session, picture), 255 - pixels(picture))


def test_filters_stand_between_others_and_in_nested_pipelines(stub, picture):
    with Session(stub, pipeline_text="colorInvert, [negate, colorInvert], halve, negate") as session:
        assert np.array_equal(filtered(session, picture), pixels(picture)[:18, : 3 * 32])


def test_filters_in_succession_share_a_conversion_unless_their_input_is_mixed(stub):
    gray = flat("I420", 64, 36, 60)
    request = frame_filter.CheckPipelineRequest(text="negate, negate, sepiaTone(intensity: 0)")
    names = [each.name for each in stub.CheckPipeline(request).passes]
    assert names == ["convert", "negate", "negate", "convert"]
    with Session(stub, pipeline_text="negate, negate") as session:
        assert abs(filtered(session, gray).astype(int) - pixels(gray)).max() <= 1
    mixed = pipeline("negate", "negate")
    mixed.stages[1].mix = 0.5
    with Session(stub, pipeline=mixed) as session:
        assert abs(filtered(session, gray).astype(int) - round(16 + 219 / 2)).max() <= 2


def test_a_filter_returns_a_picture_of_another_size(stub, picture):
    with Session(stub, pipeline_text="halve") as session:
        session.send_frame(picture)
        image = session.receive_until("frame").image
    assert (image.width, image.height) == (32, 18)
    assert np.array_equal(pixels(image), pixels(picture)[:18, : 3 * 32])


def test_an_analysis_reports_values(stub, picture):
    with Session(stub, pipeline_text="mean, negate") as session:
        session.send_frame(picture)
        report = session.receive_until("analysis")
    assert report.filter == "mean" and 0 < report.figures["mean"] < 255
    spot = report.detections[0]
    assert (spot.kind, spot.x, spot.y, spot.width, spot.height) == ("spot", 1, 2, 3, 4)


def test_sessions_have_their_own_state(stub):
    dark = flat("GRAY8", 16, 16, 0)
    with (
        Session(stub, pipeline_text="tally") as one, Session(stub, pipeline_text="tally") as other
    ):
        assert [filtered(one, dark)[0, 0] for _ in range(3)] == [1, 2, 3]
        assert filtered(other, dark)[0, 0] == 1
        assert filtered(one, dark)[0, 0] == 4


def test_an_exception_is_the_outcome_of_the_frame(stub, host, picture):
    with Session(
        stub, pipeline_text="misbehave(mode: fail)", failure_policy=DROP
    ) as session:
        session.send_frame(picture)
        dropped = session.receive_until("dropped")
        assert dropped.reason == messages.DROP_REASON_STAGE_FAILED
        assert "misbehave failed: ValueError: no" in dropped.diagnostic.message
        session.select_text("misbehave")
        filtered(session, picture)
    assert "Traceback ...\\nValueError: no" in host.log


def test_a_session_that_is_refused_fails_its_frames(stub, picture):
    with Session(stub, pipeline_text="misbehave(mode: refuse)") as session:
        for _ in range(2):
            session.send_frame(picture)
            frame = session.receive_until("frame")
            assert frame.disposition == messages.DISPOSITION_PASSED_THROUGH
            assert "RuntimeError: no model" in frame.failure.message


def test_a_late_result_is_discarded_and_the_next_frame_is_filtered(stub, picture):
    with Session(stub, pipeline_text="misbehave(mode: sleep, seconds: 0.3)") as session:
        session.send_frame(picture, budget_us=50_000)
        dropped = session.receive_until("dropped")
        assert dropped.reason == messages.DROP_REASON_LATE_IN_PIPELINE
        session.send_frame(picture, budget_us=5_000_000)
        assert session.receive_until("frame").sequence == 2


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("exit", "it exited with status 7"),
        ("hang", "it has not answered a frame for"),
        ("deaf", "it has not answered a frame for"),
        ("escape", "it has not answered a frame for"),
        ("unknown", "messages of unknown kinds in a second"),
        ("huge", "it exited with status 1"),
        ("stop", "a signal has stopped it"),
        ("foreign", "does not wait for an answer"),
        ("flood", "does not wait for an answer"),
    ],
)
def test_a_process_that_breaks_is_started_again(environment, picture, mode, reason):
    with (
        Server("--filter-process", PEER, environment=environment) as host,
        connect(host.addresses["unix"]) as channel,
        host.follow_log() as log,
        Session(service.FrameFilterStub(channel), pipeline_text="negate") as other,
    ):
        stub, before = service.FrameFilterStub(channel), peer(host)
        filtered(other, picture)
        with Session(
            stub, pipeline_text=f"misbehave(mode: {mode})", failure_policy=DROP
        ) as session:
            session.send_frame(picture)
            if mode not in ("flood", "unknown"):
                dropped = session.receive_until("dropped")
                assert dropped.reason == messages.DROP_REASON_STAGE_FAILED
                assert "filter process" in dropped.diagnostic.message
            # Both sessions go on with the process that was started again.
            log.wait_for(f".*filter process started.*{before}.*")
            log.wait_for(f".*{reason}.*")
            log.wait_for(".*filter process attached.*")
            session.select_text("misbehave")
            filtered(session, picture)
        assert np.array_equal(filtered(other, picture), 255 - pixels(picture))
        assert peer(host) != before


def test_a_picture_that_was_returned_no_longer_changes_for_later_stages(stub):
    """The process changes it when the next filter, which is mixed with it, gets its frame."""
    gray = flat("GRAY8", 64, 36, 60)
    mixed = pipeline(("misbehave", {"mode": "late"}), "tally")
    mixed.stages[1].mix = 0.5
    with Session(stub, pipeline=mixed) as session:
        assert set(np.unique(filtered(session, gray))) <= {25, 26}


@pytest.mark.parametrize(("width", "copies"), [(640, 1), (641, 2)])
def test_a_result_without_padding_is_sent_from_the_memory_of_the_process(
    environment, width, copies
):
    gray = flat("GRAY8", width, 360, 60)
    with (
        Server(
            "--filter-process", PEER, "--admin", "127.0.0.1:0", environment=environment
        ) as host,
        connect(host.addresses["unix"]) as channel,
        Session(service.FrameFilterStub(channel), pipeline_text="tally") as session,
    ):
        for number in range(1, 4):
            assert np.unique(filtered(session, gray)).tolist() == [number]
        with urllib.request.urlopen(f"http://{host.addresses['admin']}/metrics") as answer:
            text = answer.read().decode()
    [counted] = re.findall(r"^sidelight_filter_process_copies_total{.*} (\d+)", text, re.MULTILINE)
    assert int(counted) == 3 * copies


def test_a_process_never_sees_what_an_earlier_stage_covers(stub, vision):
    portrait = np.asarray(Image.open(PORTRAIT).convert("RGB"))
    height, width = portrait.shape[:2]
    plane = np.full((height, width, 4), 255, np.uint8)
    plane[..., :3] = portrait[..., ::-1]
    original = images.make_image("BGRA8", width, height, [plane.reshape(height, -1)])
    with Session(stub, pipeline_text="faceBlur") as session:
        # The whole frame is covered until faces have been looked for.
        covered = filtered(session, original).reshape(height, width, 4)
        while not np.array_equal(covered[0, :8], plane[0, :8]):
            covered = filtered(session, original).reshape(height, width, 4)
    # Where the cover has changed four pixels most.
    change = np.abs(covered.astype(int) - plane).sum(axis=2)
    change = change[:, :-3] + change[:, 1:-2] + change[:, 2:-1] + change[:, 3:]
    y, x = np.unravel_index(change.argmax(), change.shape)
    secret = plane[y, x : x + 4].tobytes().hex()
    with Session(
        stub, pipeline_text=f'faceBlur, spy(secret: "{secret}", place: "{x} {y}")'
    ) as session:
        results = [filtered(session, original).reshape(height, width, 4) for _ in range(30)]
    assert all(result[y, x : x + 4].tobytes().hex() != secret for result in results)
    assert not any(result[0, 0, 0] for result in results)


def test_a_picture_that_a_process_does_not_write_is_black(stub, picture):
    with Session(stub, pipeline_text="negate, lazy") as session:
        for _ in range(3):
            assert filtered(session, picture).max() == 0


@pytest.mark.parametrize("mode", ["shrink", "gulp"])
def test_memory_is_limited(stub, host, picture, mode):
    before = peer(host)
    with Session(stub, pipeline_text=f"misbehave(mode: {mode})", failure_policy=DROP) as session:
        filtered(session, picture)
    assert peer(host) == before


def test_a_process_is_confined(stub, host, picture):
    with Session(stub, pipeline_text="confinement") as session:
        session.send_frame(picture)
        words = session.receive_until("analysis").words
    assert words["folder"] == words["temporary"] != os.getcwd() and words["entries"] == "[]"
    assert (words["privileges"], words["capabilities"]) == ("1", "")
    assert words["descriptors"] == "256"
    is_alone = re.search(r"filter process started.*network\"?[=:]\s*\"?none", host.log)
    assert is_alone is None or words["interfaces"] in ("", "lo")


@pytest.mark.skipif(os.geteuid() != 0, reason="it needs root")
def test_root_starts_processes_as_another_user():
    failed = sidelight("filters", "--filter-process", "id -u", fails=True)
    user = re.search(r"it exited with status 0: (\d+)", failed.stderr.decode())
    assert user and 61184 <= int(user[1]) <= 65519


@pytest.mark.skipif(os.geteuid() != 0, reason="it needs root")
def test_programs_that_have_left_the_session_of_a_process_end_with_it():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        output, gate, script = (f"{folder}/{name}" for name in ("output", "gate", "start"))
        for fifo in (output, gate):
            os.mkfifo(fifo)
            os.chmod(fifo, 0o666)
        Path(script).write_text(
            f"setsid sh -c 'echo left; exec sleep 100' >{output} &\nread line <{gate}\n"
        )
        with subprocess.Popen(
            [binary(), "filters", "--filter-process", f"sh {script}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as command, open(output) as lines:
            assert lines.readline() == "left\n"
            # The process ends, and the command as it has not attached.
            Path(gate).write_text("\n")
            assert lines.read() == "" and command.wait(60) != 0


def startable(folder) -> tuple[Path, str]:
    """A file, and the command of a process that starts while the file exists."""
    flag, script = folder / "flag", folder / "start"
    flag.touch()
    script.write_text(f"test -e {flag} && exec {PEER}\n")
    return flag, f"sh {script}"


def test_filters_are_missing_while_their_process_is_started_again(
    environment, picture, tmp_path
):
    flag, command = startable(tmp_path)
    with (
        Server(
            "--filter-process", command, "--admin", "127.0.0.1:0", environment=environment
        ) as host,
        connect(host.addresses["unix"]) as channel,
        Session(
            service.FrameFilterStub(channel), pipeline_text="negate", failure_policy=DROP
        ) as session,
    ):
        def get(path: str) -> str:
            with urllib.request.urlopen(f"http://{host.addresses['admin']}{path}") as answer:
                return answer.read().decode()

        health = health_pb2_grpc.HealthStub(channel)
        statuses = health.Watch(
            health_pb2.HealthCheckRequest(service="sidelight.v1.FrameFilter/negate"), timeout=120
        )
        status = health_pb2.HealthCheckResponse
        assert next(statuses).status == status.SERVING and get("/readyz") == "serving\n"
        filtered(session, picture)
        flag.unlink()
        os.kill(peer(host), signal.SIGKILL)
        assert next(statuses).status == status.NOT_SERVING
        assert "missing filter negate: the filter process is being started again" in get("/readyz")
        server = health_pb2.HealthCheckRequest()
        assert health.Check(server, timeout=60).status == status.SERVING
        session.send_frame(picture)
        session.receive_until("dropped")
        flag.touch()
        assert next(statuses).status == status.SERVING and get("/readyz") == "serving\n"
        filtered(session, picture)
        metrics = get("/metrics")
    for series in (
        'sidelight_filter_process_frames_total{.*outcome="filtered".*} 2',
        'sidelight_filter_process_frames_total{.*outcome="lost".*} 1',
        'sidelight_filter_process_restarts_total{.*reason="ended".*} [1-9]',
        'sidelight_filter_processes{.*state="attached".*} 1',
        'sidelight_filter_processes{.*state="starting".*} 0',
    ):
        assert re.search(series, metrics), series


def test_sessions_move_to_another_process_while_theirs_is_started_again(
    environment, picture, tmp_path
):
    flag, command = startable(tmp_path)
    with (
        Server(
            "--filter-process", command, "--filter-process-count", "2", environment=environment
        ) as host,
        connect(host.addresses["unix"]) as channel,
        host.follow_log() as log,
        Session(service.FrameFilterStub(channel), pipeline_text="mean") as session,
    ):
        session.send_frame(picture)
        first = round(session.receive_until("analysis").figures["process"])
        flag.unlink()
        os.kill(first, signal.SIGKILL)
        log.wait_for(".*filter process ended.*")
        session.send_frame(picture)
        other = round(session.receive_until("analysis").figures["process"])
        assert other != first


def test_a_slow_filter_delays_no_other_session(stub, picture):
    with (
        Session(stub, pipeline_text="misbehave(mode: sleep, seconds: 1)") as slow,
        Session(stub, pipeline_text="sepiaTone") as other,
    ):
        slow.send_frame(picture, budget_us=10_000_000)
        for _ in range(20):
            filtered(other, picture)
        # The slow frame is the last: the others did not wait for it.
        assert not slow.transcript.frames
        slow.receive_until("frame")


def test_a_dead_process_is_replaced_while_sessions_continue(stub, host, picture):
    with host.follow_log() as log, Session(stub, pipeline_text="negate") as session:
        filtered(session, picture)
        before = peer(host)
        os.kill(before, signal.SIGKILL)
        log.wait_for(f".*filter process started.*{before}.*")
        log.wait_for(".*it was ended by signal 9.*")
        log.wait_for(".*filter process attached.*")
        assert np.array_equal(filtered(session, picture), 255 - pixels(picture))


def test_a_pipeline_that_protects_covers_frames_of_a_failed_process(stub, vision, picture):
    with Session(stub, pipeline_text="faceBlur, misbehave(mode: fail)") as session:
        session.send_frame(picture)
        frame = session.receive_until("frame")
    assert frame.disposition == messages.DISPOSITION_DEGRADED
    assert "ValueError: no" in frame.failure.message
    assert not np.array_equal(pixels(frame.image), pixels(picture))


def test_a_transition_mixes_two_parameters(stub, picture):
    with Session(stub, pipeline_text="negate(amount: 0)") as session:
        filtered(session, picture)
        fade = messages.Transition(duration=duration_pb2.Duration(seconds=60))
        session.select_text("negate", transition=fade)
        result = filtered(session, picture)
    assert abs(result.astype(int) - pixels(picture)).max() <= 16


def test_sessions_are_spread_over_processes_and_workers_have_their_own(environment, picture):
    with (
        Server(
            "--filter-process", PEER, "--filter-process-count", "2", "--workers", "1",
            environment=environment,
        ) as host,
        connect(host.addresses["unix"]) as channel,
    ):
        stub = service.FrameFilterStub(channel)
        with Session(stub, pipeline_text="mean") as one, Session(stub, pipeline_text="mean") as two:
            for session in (one, two):
                session.send_frame(picture)
            found = {each.receive_until("analysis").figures["process"] for each in (one, two)}
        assert len(found) == 2
        users = re.findall(r"filter process started.*user\"?[=:]\s*\"?(\w+)", host.log)
        assert os.geteuid() != 0 or users == ["root"] * 2 or len(set(users)) == 2, users
        assert host.terminate() == 0, host.log
        with pytest.raises(ProcessLookupError):
            os.kill(int(found.pop()), 0)


def test_changed_files_replace_a_process_unless_the_new_one_fails(environment, picture, tmp_path):
    file = tmp_path / "filters"
    file.write_text("")
    with (
        Server(
            "--filter-process", f"{PEER} {file}", "--filter-reload",
            environment=environment | {"PEER_OFFER": str(file)},
        ) as host,
        connect(host.addresses["unix"]) as channel,
        host.follow_log() as log,
        Session(service.FrameFilterStub(channel), pipeline_text="negate") as session,
    ):
        filtered(session, picture)
        first = peer(host)
        file.write_text("other")
        log.wait_for(".*filter process not reloaded.*have changed.*")
        assert np.array_equal(filtered(session, picture), 255 - pixels(picture))
        os.kill(first, 0)
        file.write_text("again")
        log.wait_for(".*filter process reloaded.*")
        assert np.array_equal(filtered(session, picture), 255 - pixels(picture))
        second = peer(host)
        assert second != first
        host.process.send_signal(signal.SIGHUP)
        log.wait_for(".*filter process reloaded.*")
        assert np.array_equal(filtered(session, picture), 255 - pixels(picture))
        assert peer(host) != second
        assert not session.transcript.dropped


def test_the_output_of_a_process_is_logged_within_limits(stub, host, picture):
    assert "hello from the filters" in host.log
    with Session(stub, pipeline_text="misbehave(mode: shout)") as session:
        filtered(session, picture)
    wait_until(lambda: "further lines of the filter process are left out" in host.log)
    assert host.log.count("a line of noise") < 10_000


def test_the_command_filters_stills_with_processes(environment, tmp_path):
    original = np.random.default_rng(1).integers(0, 256, (20, 30, 3), np.uint8)
    Image.fromarray(original).save(tmp_path / "in.png")
    sidelight(
        "apply", tmp_path / "in.png", tmp_path / "out.png", "--filter-process", PEER,
        "--pipeline", "negate", env=environment,
    )
    result = np.asarray(Image.open(BytesIO((tmp_path / "out.png").read_bytes())).convert("RGB"))
    assert np.array_equal(result, 255 - original)
    plan = sidelight(
        "check", "--filter-process", PEER, "--pipeline", "sepiaTone, negate", env=environment
    ).stdout.decode()
    assert "negate: a filter process, in rgb24" in plan
    assert "negate" in sidelight("filters", "--filter-process", PEER, env=environment).stdout.decode()


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        ("crash", "it exited with status 1: ImportError: no module named filters"),
        ("builtin", "offers 'sepiaTone', which is a filter already"),
        ("format", "the filter 'thing': format must be one of"),
        ("kind", "the filter 'thing': kind 99 is not known"),
        ("parameters", "the filter 'thing': mattes and face finders have no parameters"),
        ("twice", "it offers 'negate' twice"),
    ],
)
def test_a_process_that_cannot_start_is_reported(environment, broken, error):
    failed = sidelight(
        "filters", "--filter-process", PEER, fails=True, env=environment | {"PEER_OFFER": broken}
    )
    assert error in failed.stderr.decode()
