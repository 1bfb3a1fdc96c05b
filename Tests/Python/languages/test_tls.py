"""TLS of the clients in C++ and Go, with certificates of the test's own authority."""

import subprocess

import grpc
import pytest

from sidelight_testing import images
from sidelight_testing.certificates import Authority
from sidelight_testing.go_call import INVERT, TOLERANCE, Call, encode, luma
from sidelight_testing.server import Server

WIDTH, HEIGHT, FRAMES = 38, 22, 20
HEADER = b"YUV4MPEG2 W38 H22 F30:1 Ip A1:1 C420jpeg\n"
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE.value[0]
ROOTS, CERTIFICATE, KEY = (
    f"TLS_{name}" for name in ("ROOT_CERTIFICATES", "CERTIFICATE", "PRIVATE_KEY")
)


class Secure:
    """Servers with certificates of an authority, and the variables for their clients."""

    def __init__(self, folder):
        self._folder = folder
        self._authority = Authority()
        self.trusting = {ROOTS: str(self._write("authority", self._authority.certificate))}
        certificate, key = self._authority.issue("alice").write(folder, "client")
        self.known = {**self.trusting, CERTIFICATE: str(certificate), KEY: str(key)}
        certificate, key = Authority("another").issue("alice").write(folder, "unknown")
        self.unknown = {**self.trusting, CERTIFICATE: str(certificate), KEY: str(key)}
        another = Authority("another").certificate
        self.distrusting = {ROOTS: str(self._write("another", another))}

    def _write(self, name, content):
        path = self._folder / f"{name}.pem"
        path.write_bytes(content)
        return path

    def server(self, host="127.0.0.1", is_mutual=False):
        """A server with a certificate for a host, which may require certificates of clients."""
        certificate, key = self._authority.issue(host, host).write(self._folder, host)
        options = ["--tls-certificate", certificate, "--tls-key", key]
        if is_mutual:
            options += ["--tls-client-ca", self.trusting[ROOTS]]
        return Server(*options)


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    return Secure(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module", params=[False, True], ids=["tls", "mutual tls"])
def is_mutual(request):
    """Whether the server requires certificates of its clients."""
    return request.param


@pytest.fixture(scope="module")
def address(secure, is_mutual):
    with secure.server(is_mutual=is_mutual) as server:
        yield server.addresses["tcp"]


@pytest.fixture
def variables(monkeypatch):
    """Sets the variables of the programs that a test starts from now on."""

    def set_variables(values):
        for name in (ROOTS, CERTIFICATE, KEY):
            monkeypatch.delenv(name, raising=False)
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    return set_variables


def run(*command, video=b""):
    return subprocess.run(command, input=video, capture_output=True, timeout=60, check=False)


def test_cpp_filters_a_video_over_tls(cpp_programs, secure, address, is_mutual, variables):
    picture = images.noise("I420", WIDTH, HEIGHT).inline
    video = HEADER + (b"FRAME\n" + picture) * FRAMES
    command = [cpp_programs / "filter_video", address, "colorInvert @region(0, 0, 1w, 0.5h)"]
    variables(secure.known if is_mutual else secure.trusting)
    finished = run(*command, video=video)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr.decode() == f"{FRAMES} frames filtered, 0 unchanged, 0 dropped\n"
    result = finished.stdout.removeprefix(HEADER).split(b"FRAME\n")[1]
    upper = WIDTH * HEIGHT // 2
    assert all(abs(after - min(max(251 - before, 0), 255)) <= 1
               for before, after in zip(picture[:upper], result[:upper], strict=True))
    assert result[upper : 2 * upper] == picture[upper : 2 * upper]


def test_cpp_refuses_other_certificates(cpp_programs, secure, address, is_mutual, variables):
    command = [cpp_programs / "inspect_server", address, "grayscale"]
    variables(secure.known)
    assert run(*command).returncode == 0
    # No TLS, another authority, and a certificate that the server does not trust.
    for values in ({}, secure.distrusting, *([secure.trusting, secure.unknown] * is_mutual)):
        variables(values)
        finished = run(*command)
        assert finished.returncode == 1
        # Before it, gRPC may write a line about the handshake.
        *_, error = finished.stderr.decode().splitlines()
        assert error.startswith(f"error {UNAVAILABLE}: "), error
        assert values is not secure.distrusting or "certificate verify failed" in error


def test_cpp_refuses_a_certificate_for_another_host(cpp_programs, secure, variables):
    variables(secure.trusting)
    with secure.server("server.example") as server:
        address = server.addresses["tcp"]
        finished = run(cpp_programs / "inspect_server", address, "grayscale")
    assert finished.returncode == 1
    assert b"is not in peer certificate" in finished.stderr, finished.stderr


def test_cpp_names_a_file_that_cannot_be_read(cpp_programs, variables, tmp_path):
    variables({ROOTS: f"{tmp_path}/none.pem"})
    finished = run(cpp_programs / "inspect_server", "127.0.0.1:1", "grayscale")
    assert finished.returncode == 1
    assert f"{ROOTS} is {tmp_path}/none.pem; it must be" in finished.stderr.decode()


@pytest.mark.usefixtures("codecs")
def test_go_filters_a_track_over_tls(
    go_programs, secure, address, is_mutual, variables, tmp_path
):
    variables(secure.known if is_mutual else secure.trusting)
    with Call(go_programs, tmp_path, address) as call:
        for _ in range(3):
            call.wait_for("shown .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    (returned, _), indices = call.outcomes(), call.indices()
    for number, _, after in call.pictures():
        assert returned[number][0] == "FILTERED"
        assert abs(after - (251 - luma(indices[number]))) <= TOLERANCE


def go_call(programs, folder, address):
    """A call that ends before it needs its video."""
    (folder / "in.ivf").write_bytes(encode("VP8"))
    return run(programs / "call", address, INVERT, folder / "in.ivf", folder / "out.ivf")


def test_go_refuses_other_certificates(
    go_programs, secure, address, is_mutual, variables, tmp_path
):
    for values in (secure.distrusting, *([secure.trusting, secure.unknown] * is_mutual)):
        variables(values)
        finished = go_call(go_programs, tmp_path, address)
        assert finished.returncode == 1
        assert b"Unavailable" in finished.stderr, finished.stderr
        if values is secure.distrusting:
            assert b"certificate signed by unknown authority" in finished.stderr


def test_go_refuses_a_certificate_for_another_host(go_programs, secure, variables, tmp_path):
    variables(secure.trusting)
    with secure.server("server.example") as server:
        finished = go_call(go_programs, tmp_path, server.addresses["tcp"])
    assert finished.returncode == 1
    assert b"certificate" in finished.stderr and b"127.0.0.1" in finished.stderr, finished.stderr
