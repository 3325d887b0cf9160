"""Signatures over the raw bytes: the published values, and what must not pass."""

import base64

import pytest

from scoring.outcomes import signatures

BODY = b"Hello, World!"
SIGNED = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
SECRET = "It's a Secret to Everybody"
NOW = 1_614_265_330
WEBHOOK = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", NOW)
WEBHOOK_BODY = b'{"test": 2432232314}'
WEBHOOK_SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_published_github_signature_passes_and_nothing_else_does():
    assert signatures.hub_signed(SECRET, BODY, SIGNED)
    assert not signatures.hub_signed(SECRET, BODY + b" ", SIGNED)
    assert not signatures.hub_signed("other", BODY, SIGNED)
    assert not signatures.hub_signed(SECRET, BODY, SIGNED.removeprefix("sha256="))
    assert not signatures.hub_signed(SECRET, BODY, "sha256=ü")


def test_any_of_the_rotated_secrets_may_have_signed_within_five_minutes():
    secret, message_id, timestamp = WEBHOOK
    old = "whsec_" + base64.b64encode(b"an older secret").decode()

    def signed(secrets, header, now):
        return signatures.webhook_signed(
            secrets, message_id, timestamp, WEBHOOK_BODY, header, now=now
        )

    assert signed([old, secret], f"v1,AAAA {WEBHOOK_SIGNED}", NOW)
    assert signed([secret], WEBHOOK_SIGNED, NOW + 300)
    assert not signed([secret], WEBHOOK_SIGNED, NOW + 301)
    assert not signed([secret], WEBHOOK_SIGNED, NOW - 301)
    assert not signed([old], WEBHOOK_SIGNED, NOW)
    assert not signed([secret], "", NOW)


def test_a_secret_that_is_not_base64_is_refused_with_the_mend():
    with pytest.raises(ValueError, match="base64 after whsec_"):
        signatures.webhook_signature("whsec_no!", "id", NOW, b"")
