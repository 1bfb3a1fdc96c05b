"""`sidelightfilter` and servers with TLS and tokens. The authority is the test's own."""

from __future__ import annotations

import re
import sys

import pytest
from support.certificates import Authority
from support.running_server import REPOSITORY, RunningServer

from .gst_support import Gst, Player, launch
from .test_documentation import blocks

sys.path.append(str(REPOSITORY / "Tests/Python"))
from sidelight_testing.tokens import Issuer

CAPS = "video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1"
GREY = bytes([40]) * (64 * 48)
INVERTED = bytes([215]) * (64 * 48)


class Secure:
    """A server that requires certificates of its clients and a token, and the files for clients."""

    def __init__(self, folder):
        authority = Authority()
        self.folder = folder
        (folder / "authority.pem").write_bytes(authority.certificate)
        (folder / "another.pem").write_bytes(Authority("another").certificate)
        authority.issue("alice").write(folder, "client")
        Authority().issue("alice").write(folder, "unknown")
        certificate, key = authority.issue("server", "127.0.0.1").write(folder, "server")
        self.tls = ["--tls-certificate", str(certificate), "--tls-key", str(key)]
        self.client_authority = ["--tls-client-ca", str(folder / "authority.pem")]
        self.issuer = Issuer(folder)

    def files(self, authority="authority", client="client"):
        """The properties for a client."""
        return {
            "ca_file": str(self.folder / f"{authority}.pem"),
            "certificate_file": str(self.folder / f"{client}.pem"),
            "private_key_file": str(self.folder / f"{client}.key"),
        }


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    return Secure(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def tls_address(secure):
    with RunningServer(*secure.tls) as server:
        yield server.tcp


@pytest.fixture(scope="module")
def token_address(secure):
    with RunningServer(*secure.tls, *secure.issuer.options) as server:
        yield server.tcp


@pytest.fixture(scope="module")
def strict_address(secure):
    options = [*secure.tls, *secure.client_authority, *secure.issuer.options]
    with RunningServer(*options) as server:
        yield server.tcp


def refusal(**properties) -> str:
    """The error on the bus of a stream that cannot start."""
    with Player(CAPS, pipeline="colorInvert", **properties) as player:
        player.push(GREY)
        error, _ = player.message(Gst.MessageType.ERROR).parse_error()
        assert error.matches(Gst.ResourceError.quark(), Gst.ResourceError.OPEN_READ_WRITE)
        return error.message


@pytest.mark.parametrize("prefix", ["", "https://"])
def test_a_private_authority_is_a_property(secure, tls_address, prefix):
    authority = secure.files()["ca_file"]
    with Player(
        CAPS, address=prefix + tls_address, pipeline="colorInvert", ca_file=authority
    ) as player:
        for _ in range(3):
            assert player.filtered(GREY) == INVERTED
        assert player.filter.get_property("ca-file") == authority


def test_another_authority_is_refused_in_the_words_of_the_element(secure, tls_address):
    expected = "certificate is not trusted; it must be signed by an authority in ca-file, "
    assert expected in refusal(address=tls_address, ca_file=secure.files("another")["ca_file"])
    # Without the property the authorities are gRPC's.
    assert expected in refusal(address=f"https://{tls_address}")


def test_the_client_has_a_certificate(secure, strict_address):
    properties = {"address": strict_address, "pipeline": "colorInvert", **secure.files()}
    with Player(CAPS, **properties) as player:
        assert player.filtered(GREY) == INVERTED
    refused = "the server refused the connection after the TLS handshake; it may require "
    for files in ({"ca_file": secure.files()["ca_file"]}, secure.files(client="unknown")):
        message = refusal(address=strict_address, **files)
        assert refused in message and "private-key-file" in message, message


def test_the_token_is_sent_over_tls(secure, token_address):
    properties = {"address": token_address, "ca_file": secure.files()["ca_file"]}
    token = secure.issuer.token()
    with Player(CAPS, pipeline="colorInvert", token=token, **properties) as player:
        assert player.filtered(GREY) == INVERTED
    assert refusal(**properties).startswith("UNAUTHENTICATED: ")


def test_files_that_are_no_pem_are_errors_that_name_the_property(secure, tls_address, tmp_path):
    files = secure.files()
    (tmp_path / "secret").write_text("secret words")
    missing, other = str(tmp_path / "missing.pem"), str(tmp_path / "secret")
    for name, path, requirement in (
        ("ca_file", missing, "a PEM file that can be read (No such file or directory)"),
        ("private_key_file", str(tmp_path), "a PEM file that can be read (Is a directory)"),
        ("ca_file", other, "the content of a PEM file with a certificate"),
        ("certificate_file", other, "the content of a PEM file with a certificate"),
        ("private_key_file", other, "the content of a PEM file with a private key"),
        ("private_key_file", "", "set together with private-key-file"),
    ):
        message = refusal(address=tls_address, **{**files, name: path})
        shown = "certificate-file" if path == "" else name.replace("_", "-")
        assert message.startswith(f"INVALID_ARGUMENT: {shown} is "), message
        assert requirement in message and "words" not in message, message


def test_the_gst_launch_line_of_the_page_runs(secure, strict_address):
    (line,) = (block for block in blocks("sh") if "ca-file" in block)
    line = line.replace("\\\n", "").replace("gst-launch-1.0", "")
    line = re.sub(r"(authority|client)\.(pem|key)", rf"{secure.folder}/\1.\2", line)
    for old, new in (
        ("videotestsrc", "videotestsrc num-buffers=3"),
        ("filters.example:50051", strict_address),
        ('"$TOKEN"', secure.issuer.token()),
        ("autovideosink", "fakesink"),
    ):
        assert old in line
        line = line.replace(old, new)
    assert "Got EOS" in launch(line).stdout
    failed = launch(line.replace("client.key", "unknown.key"), check=False)
    assert failed.returncode != 0 and "Got EOS" not in failed.stdout
