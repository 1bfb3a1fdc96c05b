"""JSON web tokens for tests, encoded here, so they can be invalid."""

import base64
import json
import time
from pathlib import Path

from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

ISSUER = "https://id.example"
AUDIENCE = "sidelight"


def encoded(data: bytes | dict) -> str:
    """Base64 for URLs, without padding; of an object its JSON."""
    if isinstance(data, dict):
        data = json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Issuer:
    """Issues tokens, and writes its public keys to a file."""

    def __init__(self, folder: Path, name: str = "key-1") -> None:
        self.name = name
        self._key = ec.generate_private_key(ec.SECP256R1())
        numbers = self._key.public_key().public_numbers()
        self._jwk = {
            "kty": "EC", "crv": "P-256", "kid": name, "use": "sig",
            "x": encoded(numbers.x.to_bytes(32)), "y": encoded(numbers.y.to_bytes(32)),
        }  # fmt: skip
        self.keys = folder / "keys.json"
        self.publish()

    def publish(self) -> None:
        """Writes the file of keys."""
        self.keys.write_text(json.dumps({"keys": [self._jwk]}))

    @property
    def options(self) -> list[str]:
        """A server's options to trust this issuer."""
        return [
            "--token-issuer", ISSUER, "--token-audience", AUDIENCE, "--token-keys", str(self.keys)
        ]  # fmt: skip

    def token(self, header: dict | None = None, secret: bytes | None = None, **claims) -> str:
        """A good token for alice, less what is said otherwise; `None` leaves a claim out.

        With a secret it is signed with that, by HMAC.
        """
        given = {
            "iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "exp": int(time.time()) + 600,
            "scope": "stream introspect",
        }  # fmt: skip
        given = {name: value for name, value in (given | claims).items() if value is not None}
        header = {"alg": "HS256" if secret else "ES256", "kid": self.name} | (header or {})
        message = f"{encoded(header)}.{encoded(given)}"
        if secret:
            code = hmac.HMAC(secret, hashes.SHA256())
            code.update(message.encode())
            return f"{message}.{encoded(code.finalize())}"
        signature = self._key.sign(message.encode(), ec.ECDSA(hashes.SHA256()))
        r, s = decode_dss_signature(signature)
        return f"{message}.{encoded(r.to_bytes(32) + s.to_bytes(32))}"
