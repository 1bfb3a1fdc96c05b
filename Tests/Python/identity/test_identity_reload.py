"""SIGHUP and authentication: certificates change during sessions, and authentication stays on."""

import os
import ssl

import grpc
import pytest
from cryptography import x509
from operations.test_configuration_reload import Reloading
from sidelight_testing import images
from sidelight_testing.certificates import Authority
from sidelight_testing.command import sidelight
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.session import Session
from sidelight_testing.tokens import Issuer

REFUSED = "settings not reloaded"


def may_call(address: str) -> bool:
    """Returns whether a caller without credentials gets an answer."""
    with grpc.insecure_channel(address) as channel:
        try:
            request = frame_filter.ListFiltersRequest()
            service.FrameFilterStub(channel).ListFilters(request, timeout=60)
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAUTHENTICATED
            return False
    return True


def serial_number(server, authority, folder) -> int:
    """The number of the certificate that a new connection sees."""
    host, _, port = server.addresses["tcp"].rpartition(":")
    trusted = folder / "trusted.pem"
    trusted.write_bytes(authority.certificate)
    shown = ssl.get_server_certificate((host, int(port)), ca_certs=str(trusted))
    return x509.load_pem_x509_certificate(shown.encode()).serial_number


def test_sessions_continue_when_certificates_change(tmp_path):
    authority = Authority()
    certificate, key = authority.issue("first", "127.0.0.1").write(tmp_path, "server")
    file = tmp_path / "settings.yaml"
    file.write_text(f"tls: {{certificate: {certificate}, key: {key}}}\n")
    with Reloading(file) as server:
        before = serial_number(server, authority, tmp_path)
        credentials = grpc.ssl_channel_credentials(authority.certificate)
        with (
            grpc.secure_channel(server.addresses["tcp"], credentials) as channel,
            Session(service.FrameFilterStub(channel)) as session,
        ):
            session.send_frame(images.noise("RGB24", 32, 32))
            session.receive_until("frame")
            authority.issue("second", "127.0.0.1").write(tmp_path, "server")
            server.reload()
            after = serial_number(server, authority, tmp_path)
            assert after != before
            # A broken file has no effect.
            certificate.write_text("no certificate")
            assert str(certificate) in server.reload(REFUSED)[0]["fault"]
            assert serial_number(server, authority, tmp_path) == after
            session.send_frame(images.noise("RGB24", 32, 32))
            assert session.finish().stats[-1].passed_through == 2


def test_a_reload_changes_certificates_and_keys_together_or_neither(tmp_path):
    authority, issuer = Authority(), Issuer(tmp_path)
    certificate, key = authority.issue("first", "127.0.0.1").write(tmp_path, "server")
    file = tmp_path / "settings.yaml"
    file.write_text(f"tls: {{certificate: {certificate}, key: {key}}}\n")

    def accepts(token: str) -> bool:
        """Returns whether a call with the token is authenticated."""
        trusted = grpc.ssl_channel_credentials(authority.certificate)
        proof = grpc.access_token_call_credentials(token)
        both = grpc.composite_channel_credentials(trusted, proof)
        with grpc.secure_channel(server.addresses["tcp"], both) as channel:
            try:
                request = frame_filter.ListFiltersRequest()
                service.FrameFilterStub(channel).ListFilters(request, timeout=60)
            except grpc.RpcError as error:
                assert error.code() == grpc.StatusCode.UNAUTHENTICATED, error
                return False
        return True

    with Reloading(file, *issuer.options) as server:
        token, serial = issuer.token(), serial_number(server, authority, tmp_path)
        assert accepts(token)
        # Good keys, and an invalid certificate.
        other = Issuer(tmp_path, "key-2")
        certificate.write_text("no certificate")
        assert str(certificate) in server.reload(REFUSED)[0]["fault"]
        assert accepts(token) and not accepts(other.token())
        # A good certificate, and invalid keys.
        authority.issue("second", "127.0.0.1").write(tmp_path, "server")
        other.keys.write_text("no keys")
        server.reload(REFUSED)
        assert serial_number(server, authority, tmp_path) == serial
        assert accepts(token)
        other.publish()
        server.reload()
        assert serial_number(server, authority, tmp_path) != serial
        assert accepts(other.token()) and not accepts(token)


@pytest.mark.parametrize("left", ["identity: {unix-users: []}\n", "limits: {max-sessions: 3}\n"])
def test_a_reload_cannot_disable_authentication(tmp_path, left):
    file = tmp_path / "settings.yaml"
    file.write_text(f"identity: {{unix-users: ['{os.getuid() + 1}=stream']}}\n")
    with Reloading(file) as server:
        assert not may_call(server.addresses["tcp"])
        file.write_text(left)
        assert "restart" in server.reload(REFUSED)[0]["fault"]
        assert not may_call(server.addresses["tcp"])


@pytest.mark.parametrize(
    "options",
    [
        ["--allow-certificate", "dns:ops=operate"],
        ["--token-scope-prefix", "x:"],
        ["--tls-min-version", "1.3"],
    ],
)
def test_incomplete_authentication_settings_prevent_the_start(options):
    finished = sidelight("serve", "--listen", "127.0.0.1:0", *options, fails=True)
    assert finished.returncode == 64
    assert "requires" in finished.stderr.decode()
