"""TLS with certificates of the test's own authority. Every test runs with both faces."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import page as programs
from support.certificates import Authority
from support.pictures import random_image
from support.running_server import RunningServer

from sidelight import Filtered, Image, InvalidArgument, Unavailable

PACKAGE = Path(__file__).resolve().parents[2]
BLACK = Image("gray", 16, 16, bytes(256))


class Secure:
    """Two servers with one authority: the second one requires certificates of its clients."""

    def __init__(self, folder):
        self.folder = folder
        self.authority = Authority()
        self.client = self.authority.issue("alice")
        self.roots = self.authority.certificate
        (folder / "authority.pem").write_bytes(self.roots)
        self.client.write(folder, "client")
        self.options = self.issue("server", "127.0.0.1", "localhost")

    def issue(self, name, *hosts):
        """The options of a server with a certificate for hosts."""
        certificate, key = self.authority.issue(name, *hosts).write(self.folder, name)
        return ["--tls-certificate", str(certificate), "--tls-key", str(key)]


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    return Secure(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def tls_address(secure):
    with RunningServer(*secure.options) as server:
        yield server.tcp


@pytest.fixture(scope="module")
def mutual_address(secure):
    roots = str(secure.folder / "authority.pem")
    with RunningServer(*secure.options, "--tls-client-ca", roots) as server:
        yield server.tcp


def refusal(face, address, **options):
    """The message with which calls and sessions are refused."""
    with face.connect(address, **options) as server:
        with pytest.raises(Unavailable) as of_call:
            server.info()
        with pytest.raises(Unavailable) as of_session:
            with server.session("sepiaTone"):
                pass
    shared = of_call.value.message.partition(" (")[0]
    assert of_session.value.message.startswith(shared)
    return of_call.value.message


@pytest.mark.parametrize("prefix", ["", "https://"])
def test_a_session_over_tls_filters_frames(face, secure, tls_address, prefix):
    options = {"root_certificates": secure.roots}
    with face.connect(prefix + tls_address, **options) as server:
        with server.session("colorInvert") as session:
            assert not session.uses_shared_memory
            for seed in range(5):
                image = random_image("bgra", 33, 17, seed)
                outcome = session.filter(image, timeout=60)
                assert isinstance(outcome, Filtered)
                assert bytes(outcome.image.data) == server.apply(image, "colorInvert").image.bytes()
        assert server.info().version


def test_names_in_the_certificate_are_accepted_and_others_refused(face, secure, tls_address):
    port = tls_address.rpartition(":")[2]
    with face.connect(f"https://localhost:{port}", root_certificates=secure.roots) as server:
        assert server.info().version
    with RunningServer(*secure.issue("other", "server.example")) as other:
        message = refusal(face, other.tcp, root_certificates=secure.roots)
    assert message.startswith("the server's certificate is not for the host in the address; ")


def test_a_certificate_of_another_authority_is_refused(face, tls_address):
    expected = "the server's certificate is not trusted; "
    # The same name with another key, another name, and the authorities of gRPC.
    for roots in (Authority().certificate, Authority("another").certificate, None):
        message = refusal(face, f"https://{tls_address}", root_certificates=roots)
        assert message.startswith(expected), message


def test_a_server_can_require_a_certificate_of_its_clients(face, secure, mutual_address):
    expected = "the server refused the connection after the TLS handshake; "
    assert refusal(face, mutual_address, root_certificates=secure.roots).startswith(expected)
    for identity, is_accepted in ((secure.client, True), (Authority().issue("alice"), False)):
        options = {
            "root_certificates": secure.roots,
            "certificate": identity.certificate,
            "private_key": identity.key,
        }
        if not is_accepted:
            assert refusal(face, mutual_address, **options).startswith(expected)
            continue
        with face.connect(mutual_address, **options) as server:
            with server.session("colorInvert") as session:
                outcome = session.filter(BLACK, timeout=60)
                assert bytes(outcome.image.data) == b"\xff" * 256


def test_one_side_without_tls_is_refused_with_the_cause(face, secure, tls_address, running_server):
    message = refusal(face, tls_address)
    assert message.startswith("the server closed the connection; it may require TLS: ")
    message = refusal(face, running_server.tcp, root_certificates=secure.roots)
    assert message.startswith("the server does not use TLS at this address; ")


@pytest.mark.parametrize("field", ["root_certificates", "certificate", "private_key"])
@pytest.mark.parametrize("content", [b"", b"secret", "authority.pem"], ids=["empty", "text", "path"])
def test_arguments_that_are_no_pem_are_refused_without_their_content(face, secure, field, content):
    options = {"certificate": secure.client.certificate, "private_key": secure.client.key}
    if field == "root_certificates":
        options = {}
    with pytest.raises(InvalidArgument) as raised:
        face.connect("127.0.0.1:1", **{**options, field: content})
    assert raised.value.field == field and "secret" not in raised.value.message


@pytest.mark.parametrize("field", ["certificate", "private_key"])
def test_a_certificate_needs_its_key(face, secure, field):
    content = {"certificate": secure.client.certificate, "private_key": secure.client.key}[field]
    with pytest.raises(InvalidArgument) as raised:
        face.connect("127.0.0.1:1", **{field: content})
    assert raised.value.field == "certificate"


def test_the_command_takes_certificates(secure, mutual_address, running_server):
    files = {
        "--root-certificates": "authority.pem",
        "--certificate": "client.pem",
        "--private-key": "client.key",
    }
    options = [str(each) for name, file in files.items() for each in (name, secure.folder / file)]
    for arguments, code in ((options, 0), (options[:2], 1)):
        finished = subprocess.run(
            [sys.executable, "-m", "sidelight", "filters", "--server", mutual_address, *arguments],
            capture_output=True,
            timeout=60,
        )
        assert finished.returncode == code, finished.stderr
        assert (b"sepiaTone" in finished.stdout) == (code == 0)


def test_the_program_of_the_page_runs(secure, mutual_address, tmp_path):
    for name in ("authority.pem", "client.pem", "client.key"):
        shutil.copy(secure.folder / name, tmp_path)
    finished = subprocess.run(
        [sys.executable, programs.__file__, PACKAGE / "docs/tls.md", mutual_address],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert finished.returncode == 0, finished.stderr
