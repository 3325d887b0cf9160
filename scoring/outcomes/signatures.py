"""Whether a delivery really comes from its sender: signatures over the raw bytes."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable

HUB_PREFIX = "sha256="
SECRET_PREFIX = "whsec_"  # noqa: S105 - marks a secret, is none
VERSION = "v1"
TOLERANCE = 300.0
"""Seconds by which a signed timestamp may differ from now."""


def hub_signature(secret: str, body: bytes) -> str:
    """Return what GitHub sends in `X-Hub-Signature-256`: sha256= and the hex HMAC of the body."""
    return HUB_PREFIX + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def hub_signed(secret: str, body: bytes, header: str) -> bool:
    """Return whether a GitHub delivery carries the signature of this secret."""
    return hmac.compare_digest(hub_signature(secret, body).encode(), header.encode())


def webhook_signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return a Standard Webhooks signature: v1, and the base64 HMAC of id.timestamp.body.

    secret: base64, with or without `whsec_` before it. Raises ValueError if it is not base64.
    """
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("the secret of a Standard Webhook must be base64 after whsec_") from error
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"{VERSION},{base64.b64encode(digest).decode()}"


def webhook_signed(
    secrets: Iterable[str], message_id: str, timestamp: int, body: bytes, header: str, *, now: float
) -> bool:
    """Return whether one of the signatures in the header matches one of the secrets, in time.

    header: `webhook-signature`, signatures separated by spaces; now: seconds since 1970.
    """
    if abs(now - timestamp) > TOLERANCE:
        return False
    expected = [webhook_signature(secret, message_id, timestamp, body) for secret in secrets]
    return any(
        hmac.compare_digest(wanted.encode(), given.encode())
        for wanted in expected
        for given in header.split()
    )
