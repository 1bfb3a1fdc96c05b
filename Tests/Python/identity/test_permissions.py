"""Permissions: the filters and values that callers and participants may use, at every entry."""

import signal
import subprocess
import time

import grpc
import pytest

from sidelight_testing import images
from sidelight_testing.answers import refusal
from sidelight_testing.contract import frame_filter, service, sessions, sessions_service
from sidelight_testing.contract import session as messages
from sidelight_testing.server import Server, binary, connect
from sidelight_testing.session import Session, pipeline
from sidelight_testing.tokens import Issuer

SECONDS = 60
NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
DENIED = grpc.StatusCode.PERMISSION_DENIED
INVALID = grpc.StatusCode.INVALID_ARGUMENT
PICTURE = images.noise("RGB24", 16, 16)
SEPIA, PIXELLATE = pipeline("sepiaTone"), pipeline(("pixellate", {"scale": 8}))

RULES = """
permissions:
  - participants: ["guest*"]
    filters: [CISepiaTone, "vign*"]
    parameters: {sepiaTone.intensity: 0...0.5}
  - {participants: ["*"], filters: ["*"]}
  - filters: [sepiaTone, pixellate, vignette, colorInvert]
    parameters: {pixellate.scale: 8...64}
"""
STRICT = 'permissions: [{filters: ["sepia*"]}]\n'
MISSPELT = 'permissions: [{filters: ["*"], parameters: {sepiaTon.intensity: 0...1}}]\n'


@pytest.fixture
def settings(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text(RULES)
    return file


@pytest.fixture
def ruled(settings):
    with Server("--config", settings, "--log-format", "json") as running:
        yield running
        assert running.process.poll() is None, running.log


@pytest.fixture
def ruled_stub(ruled):
    with connect(ruled.addresses["tcp"]) as channel:
        yield service.FrameFilterStub(channel)


def names(stub, participant: str = "", **options: object) -> list[str]:
    request = frame_filter.ListFiltersRequest(participant=participant)
    return [each.name for each in stub.ListFilters(request, timeout=SECONDS, **options).filters]


def open_session(stub, **fields: object) -> Session:
    return Session(stub, seconds=SECONDS, drop_policy=NEVER_DROP, **fields)


@pytest.mark.parametrize("wanted, name", [
    (pipeline("gaussianBlur"), "gaussianBlur"), (pipeline("CIGaussianBlur"), "gaussianBlur"),
    (pipeline("sepiaTone", "gaussianBlur"), "gaussianBlur"),
])  # fmt: skip
def test_each_entry_refuses_a_filter_and_names_it(ruled, ruled_stub, wanted, name):
    nested = messages.Open().pipeline
    nested.stages.add(pipeline=wanted)
    refusals = [
        refusal(lambda: open_session(ruled_stub, pipeline=given)) for given in (wanted, nested)
    ]
    apply = frame_filter.ApplyRequest(image=PICTURE, pipeline=wanted)
    refusals.append(refusal(lambda: ruled_stub.Apply(apply, timeout=SECONDS)))
    check = frame_filter.CheckPipelineRequest(pipeline=wanted)
    refusals.append(refusal(lambda: ruled_stub.CheckPipeline(check, timeout=SECONDS)))
    with open_session(ruled_stub, pipeline=SEPIA) as session:
        session.select(wanted, request_id=7)
        error = session.receive_until("error")
        assert error.request_id == 7 and error.status.code == DENIED.value[0]
        refusals.append((DENIED, error.status.message))
        with grpc.insecure_channel(ruled.addresses["tcp"]) as channel:
            operators = sessions_service.SessionsStub(channel)
            override = sessions.OverrideSessionRequest(
                session_id=session.opened.session_id, pipeline=wanted
            )
            override.time_to_live.seconds = 60
            refusals.append(refusal(lambda: operators.OverrideSession(override, timeout=SECONDS)))
        # The session runs on.
        session.send_frame(PICTURE)
        assert session.receive_until("frame").revision == 1
    for code, sentence in refusals:
        assert code == DENIED, sentence
        field, _, reason = sentence.partition(": ")
        assert field.endswith(".filter.name"), sentence
        assert f'the filter "{name}" is not permitted by the caller\'s permissions' in reason


def test_a_value_outside_the_range_is_refused_also_by_update(ruled_stub):
    for scale in (7.9, 65):
        wanted = pipeline(("pixellate", {"scale": scale}))
        code, sentence = refusal(lambda: open_session(ruled_stub, pipeline=wanted))
        assert code == DENIED
        assert sentence == (
            'open.pipeline.stages[0].filter.parameters["scale"]: scale is '
            f"{float(scale)}; the range permitted by the caller's permissions is 8...64"
        )
    with open_session(ruled_stub, pipeline=PIXELLATE) as session:
        for scale, is_permitted in ((64, True), (65, False), (8, True)):
            update = messages.Update(request_id=scale)
            stage = update.stages.add(stage="stages[0]")
            stage.parameters["scale"].number = scale
            session.send(update=update)
            session.send_frame(PICTURE)
            session.receive_until("frame")
            errors = session.transcript.errors
            assert [each.request_id for each in errors] == ([] if scale == 64 else [65])
            assert is_permitted or errors[-1].status.code == DENIED.value[0]


def test_a_stage_that_is_not_active_needs_permission_too(ruled_stub):
    wanted = pipeline("gaussianBlur")
    wanted.stages[0].active = False
    assert refusal(lambda: open_session(ruled_stub, pipeline=wanted))[0] == DENIED


def test_lists_and_descriptions_are_narrowed(ruled_stub):
    assert names(ruled_stub) == ["colorInvert", "pixellate", "sepiaTone", "vignette"]
    assert names(ruled_stub, "host") == names(ruled_stub)
    assert names(ruled_stub, "guest-1") == ["sepiaTone", "vignette"]
    request = frame_filter.ListFiltersRequest(participant="guest-1")
    [sepia, _] = ruled_stub.ListFilters(request, timeout=SECONDS).filters
    [intensity] = [each for each in sepia.parameters if each.name == "intensity"]
    assert (intensity.limits.minimum, intensity.limits.maximum) == (0, 0.5)
    assert intensity.slider.maximum == 0.5
    assert not intensity.HasField("default_value"), "1 is not permitted"
    describe = frame_filter.DescribeFilterRequest(name="CIPixellate")
    described = ruled_stub.DescribeFilter(describe, timeout=SECONDS).filter
    [scale] = [each for each in described.parameters if each.name == "scale"]
    assert (scale.slider.minimum, scale.slider.maximum) == (8, 64)
    assert (scale.limits.minimum, scale.limits.maximum) == (8, 64)
    describe.name = "gaussianBlur"
    code, sentence = refusal(lambda: ruled_stub.DescribeFilter(describe, timeout=SECONDS))
    assert code == DENIED and "gaussianBlur" in sentence


def test_a_participant_has_less_than_its_caller(ruled_stub):
    guest = {"participant": "guest-1"}
    half = pipeline(("sepiaTone", {"intensity": 0.5}))
    with open_session(ruled_stub, pipeline=half, **guest) as session:
        session.select(PIXELLATE)
        message = session.receive_until("error").status.message
        assert "the participant's permissions" in message
        session.finish()
    assert refusal(lambda: open_session(ruled_stub, pipeline=SEPIA, **guest))[0] == DENIED
    with open_session(ruled_stub, pipeline=PIXELLATE, participant="host") as session:
        session.finish()
    blur = pipeline("gaussianBlur")
    _, sentence = refusal(lambda: open_session(ruled_stub, pipeline=blur, participant="host"))
    assert "the caller's permissions" in sentence


@pytest.mark.parametrize("allowed, code, words", [
    (["pixellate"], DENIED, 'the filter "sepiaTone" is not permitted by open.allowed_filters'),
    (["-"], DENIED, 'the filter "sepiaTone" is not permitted by open.allowed_filters'),
    (["*Tone"], INVALID, "open.allowed_filters[0]: is"),
    (["sepiaTone", ""], INVALID, "open.allowed_filters[1]: has 0 bytes"),
    (["a" * 65], INVALID, "open.allowed_filters[0]: has 65 bytes; the range is 1 to 64"),
    (["a*"] * 1000, INVALID, "open.allowed_filters: has 1000 entries; the limit is 256"),
    (["sepia*"], None, ""), (["CISepiaTone"], None, ""), (["*"], None, ""),
    ([f"x{number}*" for number in range(255)] + ["sepia*"], None, ""),
])  # fmt: skip
def test_a_session_limits_itself(ruled_stub, allowed, code, words):
    fields = {"pipeline": SEPIA, "allowed_filters": allowed}
    if code is None:
        with open_session(ruled_stub, **fields) as session:
            session.select(PIXELLATE)
            if "*" not in allowed:
                session.receive_until("error")
            session.finish()
        return
    refused, sentence = refusal(lambda: open_session(ruled_stub, **fields))
    assert refused == code and words in sentence


def reload(server: Server, message: str = '"settings reloaded"') -> None:
    before = server.log.count(message)
    server.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + SECONDS
    while server.log.count(message) == before:
        assert server.process.poll() is None and time.monotonic() < deadline, server.log
        time.sleep(0.02)


def test_a_reload_applies_to_the_next_change_and_to_older_tokens(ruled, ruled_stub, settings):
    with open_session(ruled_stub, pipeline=PIXELLATE) as session:
        token = session.opened.resume_token
        session.send_frame(PICTURE)
        before = session.receive_until("frame")
        settings.write_text(STRICT)
        reload(ruled)
        session.send_frame(PICTURE)
        assert session.receive_until("frame").image == before.image
        session.send(update=messages.Update(stages=[{"stage": "stages[0]"}], request_id=1))
        assert session.receive_until("error").status.code == DENIED.value[0]
        session.select(SEPIA)
        session.send_frame(PICTURE)
        assert session.receive_until("frame").revision == 2
    assert names(ruled_stub) == ["sepiaTone"]
    code, sentence = refusal(lambda: open_session(ruled_stub, resume_token=token))
    assert code == DENIED
    assert sentence.startswith("open.resume_token.pipeline.stages[0].filter.name: ")
    # A misspelt filter would leave the parameter without its range.
    settings.write_text(MISSPELT)
    reload(ruled, '"settings not reloaded"')
    assert names(ruled_stub) == ["sepiaTone"]


def test_a_range_of_an_unknown_parameter_stops_the_start():
    rule = "parameters=sepiaTone.intensty:0...1"
    ended = subprocess.run(
        [binary(), "serve", "--listen", "127.0.0.1:0", "--permit", rule],
        capture_output=True, timeout=SECONDS,
    )  # fmt: skip
    assert ended.returncode != 0
    assert b"did you mean intensity?" in ended.stdout + ended.stderr


@pytest.mark.parametrize("form", ["text", "file"])
def test_a_rule_with_an_empty_list_permits_no_filter(tmp_path, form):
    file = tmp_path / "sidelight.yaml"
    file.write_text("permissions: [{filters: []}]\n")
    options = ["--permit", "filters="] if form == "text" else ["--config", file]
    with Server(*options) as running:
        with grpc.insecure_channel(running.addresses["tcp"]) as channel:
            stub = service.FrameFilterStub(channel)
            assert names(stub) == []
            check = frame_filter.CheckPipelineRequest(text="sepiaTone")
            code, _ = refusal(lambda: stub.CheckPipeline(check, timeout=SECONDS))
            assert code == DENIED


def test_the_claim_of_a_token_limits_its_caller(tmp_path):
    issuer = Issuer(tmp_path)
    with Server(*issuer.options, "--permit", "filters=sepiaTone+pixellate") as running:
        with grpc.insecure_channel(running.addresses["tcp"]) as channel:
            stub = service.FrameFilterStub(channel)
            for claim, expected in [
                (None, ["pixellate", "sepiaTone"]), (["sepia*", "vignette"], ["sepiaTone"]),
                ("CIPixellate vignette", ["pixellate"]), (["*"], ["pixellate", "sepiaTone"]),
                ([], []), ("", []), (["vignette"], []),
            ]:  # fmt: skip
                metadata = [("authorization", f"Bearer {issuer.token(filters=claim)}")]
                assert names(stub, metadata=metadata) == expected, claim
                check = frame_filter.CheckPipelineRequest(text="sepiaTone, sepiaTone")
                if "sepiaTone" in expected:
                    stub.CheckPipeline(check, timeout=SECONDS, metadata=metadata)
                else:
                    code, _ = refusal(
                        lambda: stub.CheckPipeline(check, timeout=SECONDS, metadata=metadata)
                    )
                    assert code == DENIED
            for claim in (1, {"a": 1}, ["a", 1], [""], ["a*b"], ["a" * 65]):
                metadata = [("authorization", f"Bearer {issuer.token(filters=claim)}")]
                code, _ = refusal(lambda: names(stub, metadata=metadata))
                assert code == grpc.StatusCode.UNAUTHENTICATED, claim
