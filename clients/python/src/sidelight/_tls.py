"""TLS: the credentials of connections, and the causes of those that fail."""

from __future__ import annotations

import re
from typing import Any, Optional

import grpc

from ._validation import invalid

__all__ = ["cause", "credentials"]

_PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----")

# gRPC reports failed handshakes in the words of its TLS library, which differ between versions.
_CAUSES = (
    (
        "CERTIFICATE_VERIFY_FAILED|BAD_SIGNATURE",
        "the server's certificate is not trusted; it must be signed by an authority in "
        "root_certificates, and must not have expired",
    ),
    (
        "Hostname Verification Check failed|is not in peer certificate",
        "the server's certificate is not for the host in the address; connect to a name or number "
        "in the certificate",
    ),
    (
        "WRONG_VERSION_NUMBER",
        "the server does not use TLS at this address; connect without https:// and certificates",
    ),
    (
        "CERTIFICATE_REQUIRED|TSI_DATA_CORRUPTED|Endpoint read failed",
        "the server refused the connection after the TLS handshake; it may require a certificate "
        "and private_key of an authority that it trusts",
    ),
    (
        "Socket closed",
        "the server closed the connection; it may require TLS: connect to https://",
    ),
)


def credentials(
    root_certificates: Optional[bytes],
    certificate: Optional[bytes],
    private_key: Optional[bytes],
) -> Any:
    """Returns the credentials of a channel. Raises `InvalidArgument` for texts that are not PEM."""
    if (certificate is None) != (private_key is None):
        raise invalid(
            "certificate", "set without its pair", "set together with private_key, or not set"
        )
    _check("root_certificates", root_certificates, "CERTIFICATE")
    _check("certificate", certificate, "CERTIFICATE")
    _check("private_key", private_key, "PRIVATE KEY")
    return grpc.ssl_channel_credentials(root_certificates, private_key, certificate)


def cause(details: str) -> Optional[str]:
    """Returns the probable cause of a connection that failed; `None` if TLS is not the cause."""
    if not details.startswith("failed to connect"):  # A connection that was open, and is lost.
        return None
    for pattern, sentence in _CAUSES:
        if re.search(pattern, details):
            return sentence
    return None


def _check(field: str, content: Optional[bytes], kind: str) -> None:
    if content is None:
        return
    requirement = f"the content of a PEM file with a {kind.lower()}, as bytes"
    if not isinstance(content, bytes):
        raise invalid(field, type(content), requirement)
    if not any(label.endswith(kind.encode()) for label in _PEM.findall(content)):
        # The content may be a secret.
        raise invalid(field, f"{len(content)} other bytes", requirement)
