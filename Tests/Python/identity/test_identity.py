"""Authentication and authorization of callers by tokens and by users of Unix sockets."""

import os
import subprocess
import time
from concurrent import futures

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from grpc_status import rpc_status
from sidelight_testing import images
from sidelight_testing.command import sidelight
from sidelight_testing.contract import error_details, frame_filter, service
from sidelight_testing.contract import sessions, sessions_service
from sidelight_testing.process import resident_bytes
from sidelight_testing.server import Server, binary, connect
from sidelight_testing.session import Session
from sidelight_testing.tokens import Issuer, encoded

HEADER = b"YUV4MPEG2 W16 H16 F25:1 Ip A1:1 C420jpeg\n"
FRAME = b"FRAME\n" + bytes(16 * 16 * 3 // 2)
NOBODY = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def guarded(issuer):
    """A server that requires tokens."""
    options = [*issuer.options, "--log-level", "trace"]
    with Server(*options) as running:
        yield running
        assert running.process.poll() is None, running.log


@pytest.fixture
def guarded_channel(guarded):
    with connect(guarded.addresses["tcp"]) as channel:
        yield channel


class Bearer:
    """A client of `FrameFilter` whose calls carry a token."""

    def __init__(self, channel, token):
        self._stub = service.FrameFilterStub(channel)
        self._metadata = [("authorization", f"Bearer {token}")] if token is not None else []

    def __getattr__(self, method):
        call = getattr(self._stub, method)
        return lambda *given, **named: call(*given, metadata=self._metadata, **named)


def refusal(call):
    """Returns the code and the reason of a refused call."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    reasons = []
    for packed in rpc_status.from_call(caught.value).details:
        info = error_details.ErrorInfo()
        if packed.Unpack(info):
            assert info.domain == "sidelight.v1"
            reasons.append(info.reason)
    return caught.value.code().name, *reasons


def check(channel, token):
    """A call that needs the scope `stream`."""
    request = frame_filter.CheckPipelineRequest(text="sepiaTone")
    return Bearer(channel, token).CheckPipeline(request, timeout=60)


def test_a_valid_token_opens_a_session_for_its_subject(guarded_channel, issuer):
    with Session(Bearer(guarded_channel, issuer.token())) as session:
        session.send_frame(images.noise("I420", 16, 16))
        session.receive_until("frame")
        operator = sessions_service.SessionsStub(guarded_channel)
        token = issuer.token(sub="boss", scope="operate")
        listed = operator.ListSessions(
            sessions.ListSessionsRequest(), metadata=[("authorization", f"Bearer {token}")]
        )
        assert [each.peer.partition(" as ")[2] for each in listed.sessions] == [
            "sub:alice@https://id.example"
        ]


# Every row of the table of bad tokens: what is done to a good one.
BAD_TOKENS = {
    "malformed": lambda issuer: "x.y",
    "empty": lambda issuer: "",
    "cut short": lambda issuer: issuer.token()[:-3],
    "alg none": lambda issuer: f"{encoded({'alg': 'none', 'kid': issuer.name})}."
    f"{issuer.token().split('.')[1]}.",
    "HS256 with the public key": lambda issuer: issuer.token(secret=issuer.keys.read_bytes()),
    "an unknown key": lambda issuer: issuer.token({"kid": "other"}),
    "another's key": None,
    "another audience": lambda issuer: issuer.token(aud="elsewhere"),
    "another issuer": lambda issuer: issuer.token(iss="https://evil.example"),
    "not yet": lambda issuer: issuer.token(nbf=int(time.time()) + 600),
    "without an end": lambda issuer: issuer.token(exp=None),
    "without a subject": lambda issuer: issuer.token(sub=None),
    "7 KB of it, and wrong": lambda issuer: issuer.token(iss="x" * 5000),
}


@pytest.mark.parametrize("fault", BAD_TOKENS)
def test_an_invalid_token_is_refused_without_the_reason(fault, guarded_channel, issuer, tmp_path):
    if fault == "another's key":
        token = Issuer(tmp_path, issuer.name).token()
    else:
        token = BAD_TOKENS[fault](issuer)
    assert refusal(lambda: check(guarded_channel, token)) == ("UNAUTHENTICATED", "TOKEN_INVALID")
    check(guarded_channel, issuer.token())


def test_missing_and_expired_tokens_have_different_errors(guarded_channel, issuer):
    assert refusal(lambda: check(guarded_channel, None)) == (
        "UNAUTHENTICATED", "CREDENTIALS_MISSING",
    )  # fmt: skip
    expired = issuer.token(exp=int(time.time()) - 61)
    assert refusal(lambda: check(guarded_channel, expired)) == (
        "UNAUTHENTICATED", "CREDENTIALS_EXPIRED",
    )  # fmt: skip


def test_a_missing_scope_is_reported(guarded_channel, issuer):
    operator = issuer.token(scope="operate")
    assert refusal(lambda: check(guarded_channel, operator)) == (
        "PERMISSION_DENIED", "SCOPE_MISSING",
    )  # fmt: skip


def test_only_health_checks_need_no_token(guarded_channel):
    health = health_pb2_grpc.HealthStub(guarded_channel)
    serving = health_pb2.HealthCheckResponse.SERVING
    assert health.Check(health_pb2.HealthCheckRequest()).status == serving
    with pytest.raises(grpc.RpcError) as caught:
        list(ProtoReflectionDescriptorDatabase(guarded_channel).get_services())
    assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED


def test_a_session_ends_when_its_token_expires(guarded_channel, issuer):
    # Whole seconds: with the leeway between two and three seconds from now.
    end = int(time.time()) + 3
    with Session(Bearer(guarded_channel, issuer.token(exp=end - 60))) as session:
        session.send_frame(images.noise("I420", 16, 16))
        session.receive_until("frame")
        error = session.fail()
    assert error.code() == grpc.StatusCode.UNAUTHENTICATED
    assert end <= time.time() < end + 20


def test_refused_callers_cost_no_memory(guarded, guarded_channel, issuer):
    request = frame_filter.ApplyRequest(image=images.noise("BGRA8", 2000, 1500))
    check(guarded_channel, issuer.token())
    before = resident_bytes(guarded.process)
    stub = Bearer(guarded_channel, "wrong")
    with futures.ThreadPoolExecutor(24) as threads:
        # Twenty-four times twelve megabytes, at the same time.
        codes = threads.map(
            lambda _: refusal(lambda: stub.Apply(request, timeout=60))[0], range(24)
        )
        assert set(codes) == {"UNAUTHENTICATED"}
    # At most the bytes that flow control lets a call send before it is refused.
    assert resident_bytes(guarded.process) - before < 24 * (4 << 20)


def test_no_token_is_logged(guarded, guarded_channel, issuer):
    good, bad = issuer.token(jti="unmistakable"), issuer.token(jti="unmistakable", aud="x")
    check(guarded_channel, good)
    refusal(lambda: check(guarded_channel, bad))
    with Session(Bearer(guarded_channel, good)) as session:
        session.half_close()
    log = guarded.log
    assert "the audience does not include this server" in log
    for token in (good, bad):
        assert not any(part in log for part in token.split("."))


def test_the_command_streams_with_a_token(guarded, issuer, tmp_path):
    video = HEADER + FRAME * 5
    file = tmp_path / "token"
    file.write_text(issuer.token() + "\n")
    stream = ["stream", "-", "-", "--server", guarded.addresses["tcp"]]
    assert sidelight(*stream, "--token-file", file, video=video).stdout.endswith(FRAME * 5)
    refused = sidelight(*stream, video=video, fails=True)
    assert "needs credentials" in refused.stderr.decode()


def test_a_server_without_keys_does_not_start(tmp_path, issuer):
    for text, words in [(None, "does not exist"), ("{}", "not a JSON Web Key Set")]:
        keys = tmp_path / "keys.json"
        if text is not None:
            keys.write_text(text)
        options = [*issuer.options[:-1], keys]
        finished = sidelight("serve", "--listen", "127.0.0.1:0", *options, fails=True)
        assert words in finished.stderr.decode() and str(keys) in finished.stderr.decode()


@pytest.mark.parametrize(
    "options",
    [
        ["--token-issuer", "x"],
        ["--token-issuer", "a@b", "--token-audience", "x", "--token-keys", "y"],
        ["--allow-unix-user", "alice=stream"],
        ["--allow-unix-user", "1000=flying"],
        ["--allow-unix-group", "=stream"],
        ["--allow-certificate", "dns:a="],
        ["--caller-frames-per-second", "0"],
        ["--caller-bytes-per-second", "nan"],
    ],
)
def test_invalid_options_are_refused(options):
    finished = sidelight("serve", "--listen", "127.0.0.1:0", *options, fails=True)
    assert finished.returncode == 64, finished.stderr.decode()


@as_root
def test_users_of_unix_sockets_are_identified_by_id(tmp_path_factory):
    folder = tmp_path_factory.mktemp("socket")
    for each in [folder, *folder.parents][:3]:
        each.chmod(0o755)
    path = folder / "s"
    command = [binary(), "serve", "--listen", f"unix:{path}", "--unix-socket-mode", "666"]
    server = subprocess.Popen(
        [*command, "--allow-unix-user", f"{NOBODY}=stream"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert server.stdout.readline().startswith(b"listening on unix:")
        for user, status in [(NOBODY, 0), (0, 1), (NOBODY - 1, 1)]:
            client = subprocess.run(
                [binary(), "stream", "-", "-", "--server", f"unix:{path}"],
                input=HEADER + FRAME, capture_output=True, timeout=60, user=user, check=False,
            )  # fmt: skip
            assert (client.returncode != 0) == (status != 0), (user, client.stderr)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
