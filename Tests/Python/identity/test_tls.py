"""TLS on TCP addresses, with grpcio and with the command's client."""

import datetime

import grpc
import pytest
from sidelight_testing import images
from sidelight_testing.certificates import Authority
from sidelight_testing.command import sidelight
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.server import Server
from sidelight_testing.session import Session

HEADER = b"YUV4MPEG2 W16 H16 F25:1 Ip A1:1 C420jpeg\n"
FRAME = b"FRAME\n" + bytes(range(128)) * 3
ALONE = [("grpc.use_local_subchannel_pool", 1)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def authority():
    return Authority()


@pytest.fixture(scope="module")
def tls_options(folder, authority):
    identity = authority.issue("server", "127.0.0.1", "server.example")
    certificate, key = identity.write(folder, "server")
    (folder / "authorities.pem").write_bytes(authority.certificate)
    return ["--tls-certificate", certificate, "--tls-key", key]


@pytest.fixture(scope="module")
def tls_server(tls_options):
    with Server(*tls_options) as running:
        yield running
        assert running.process.poll() is None, running.log


@pytest.fixture(scope="module")
def mutual_server(tls_options, folder):
    with Server(*tls_options, "--tls-client-ca", folder / "authorities.pem") as running:
        yield running
        assert running.process.poll() is None, running.log


def channel(server, authority, identity=None, options=()):
    credentials = grpc.ssl_channel_credentials(
        authority.certificate,
        identity and identity.key,
        identity and identity.certificate,
    )
    return grpc.secure_channel(server.addresses["tcp"], credentials, [*ALONE, *options])


def answer(channel):
    """The code with which a call ends."""
    with channel:
        try:
            service.FrameFilterStub(channel).GetServerInfo(
                frame_filter.GetServerInfoRequest(), timeout=60
            )
            return "OK"
        except grpc.RpcError as error:
            return error.code().name


def test_a_session_runs_over_tls(tls_server, authority):
    with channel(tls_server, authority) as secure:
        with Session(service.FrameFilterStub(secure), drop_policy=3) as session:
            picture = images.noise("I420", 320, 240)
            for _ in range(30):
                session.send_frame(picture)
            transcript = session.finish()
    assert [each.image.inline for each in transcript.frames] == [picture.inline] * 30


def test_only_clients_that_trust_the_authority_connect(tls_server, authority):
    assert answer(channel(tls_server, authority)) == "OK"
    assert answer(channel(tls_server, Authority())) == "UNAVAILABLE"


def test_only_names_in_the_certificate_are_accepted(tls_server, authority):
    for name, code in [("server.example", "OK"), ("other.example", "UNAVAILABLE")]:
        options = [("grpc.ssl_target_name_override", name)]
        assert answer(channel(tls_server, authority, options=options)) == code


def test_plaintext_on_a_tls_port_is_not_answered(tls_server, authority):
    address = tls_server.addresses["tcp"]
    assert answer(grpc.insecure_channel(address, ALONE)) == "UNAVAILABLE"
    assert answer(channel(tls_server, authority)) == "OK"


def test_unix_sockets_do_not_use_tls(tls_server):
    assert answer(grpc.insecure_channel(tls_server.addresses["unix"], ALONE)) == "OK"


def test_only_valid_client_certificates_are_accepted(mutual_server, authority):
    expired = authority.issue("alice", lifetime=-datetime.timedelta(hours=1))
    cases = [
        (authority.issue("alice"), "OK"),
        (None, "UNAVAILABLE"),
        (Authority().issue("alice"), "UNAVAILABLE"),
        (expired, "UNAVAILABLE"),
    ]
    for identity, code in cases:
        assert answer(channel(mutual_server, authority, identity)) == code


def test_unix_sockets_do_not_replace_client_certificates(mutual_server):
    address = mutual_server.addresses["unix"]
    assert answer(grpc.insecure_channel(address, ALONE)) == "UNAUTHENTICATED"


def test_the_command_streams_with_certificates(mutual_server, authority, folder):
    certificate, key = authority.issue("alice").write(folder, "alice")
    video = HEADER + FRAME * 10
    stream = ["stream", "-", "-", "--server", mutual_server.addresses["tcp"]]
    trusting = [*stream, "--tls-ca", folder / "authorities.pem"]
    finished = sidelight(
        *trusting, "--tls-certificate", certificate, "--tls-key", key, video=video
    )
    assert finished.stdout.endswith(FRAME * 10)
    sidelight(*trusting, video=video, fails=True)
    sidelight(*stream, video=video, fails=True)


# The error in the files, and the server's message that names one of them.
BROKEN = {
    "no certificate": ("certificate", None, "does not exist"),
    "no key": ("key", None, "does not exist"),
    "an empty certificate": ("certificate", b"", "is empty"),
    "a certificate that is none": ("certificate", b"secret", "not a PEM file with certificates"),
    "a key that is none": ("key", b"secret", "not a PEM file with an unencrypted key"),
    "another's key": ("key", Authority().issue("x").key, "is not the key of the certificate"),
    "an expired certificate": ("both", datetime.timedelta(hours=-1), "expired"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_invalid_certificate_prevents_the_start(name, tmp_path, authority):
    what, change, words = BROKEN[name]
    lifetime = change if what == "both" else datetime.timedelta(days=1)
    certificate, key = authority.issue("s", "127.0.0.1", lifetime=lifetime).write(tmp_path, "s")
    paths = {"certificate": certificate, "key": key}
    if what in paths:
        paths[what].unlink() if change is None else paths[what].write_bytes(change)
    finished = sidelight(
        "serve", "--listen", "127.0.0.1:0", "--tls-certificate", certificate, "--tls-key", key,
        fails=True,
    )  # fmt: skip
    said = finished.stderr.decode()
    assert words in said and str(paths.get(what, certificate)) in said
    # The message never shows the files' content.
    assert "secret" not in said and "PRIVATE" not in said


@pytest.mark.parametrize(
    "options",
    [
        ["--tls-certificate", "a"],
        ["--tls-key", "a"],
        ["--tls-client-ca", "a"],
        ["--tls-certificate", "a", "--tls-key", "b", "--tls-client-certificates", "required"],
        ["--tls-certificate", "a", "--tls-key", "b", "--tls-min-version", "1.1"],
    ],
)
def test_incomplete_tls_options_are_refused(options):
    finished = sidelight("serve", "--listen", "127.0.0.1:0", *options, fails=True)
    assert finished.returncode == 64
    assert "--tls-" in finished.stderr.decode()
