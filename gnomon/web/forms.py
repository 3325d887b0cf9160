"""Proof that a POST comes from one of our own pages: a token, and the Origin header."""

import hashlib
import hmac
import secrets
from urllib.parse import urlsplit

from fastapi import Request, Response
from starlette.datastructures import FormData, UploadFile

from gnomon.errors import InputError

COOKIE = "gnomon_form"
FIELD = "token"
_KEEP = 30 * 86_400


class Forged(InputError):
    """The request does not come from a page of this Gnomon."""

    code = "forged"
    status = 403


class Forms:
    """Issues and checks form tokens; they end with the process."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def session(self, request: Request) -> str:
        """Return the browser's form cookie, or a new value for it."""
        known = request.cookies.get(COOKIE, "")
        return known if len(known) == 32 and known.isalnum() else secrets.token_hex(16)

    def token(self, session: str) -> str:
        """Return a token for a form; salted, so that compression betrays nothing."""
        salt = secrets.token_hex(8)
        return f"{salt}.{self._sign(session, salt)}"

    def keep(self, request: Request, response: Response, session: str) -> None:
        """Give the browser its cookie, unless it has it."""
        if request.cookies.get(COOKIE) != session:
            response.set_cookie(
                COOKIE,
                session,
                max_age=_KEEP,
                httponly=True,
                samesite="lax",
                secure=request.url.scheme == "https",
            )

    async def read(self, request: Request) -> dict[str, str]:
        """Return the fields of a POST, or raise Forged."""
        origin = request.headers.get("origin", "")
        if not origin or urlsplit(origin).netloc != request.headers.get("host"):
            raise Forged(f"Origin is {origin or 'missing'}; send the form from a page of this host")
        form: FormData = await request.form()
        fields = {name: text for name, text in form.items() if not isinstance(text, UploadFile)}
        salt, _, signature = fields.get(FIELD, "").partition(".")
        expected = self._sign(request.cookies.get(COOKIE, ""), salt)
        if not hmac.compare_digest(signature.encode(), expected.encode()):
            raise Forged("the form is older than this process; reload the page and send it again")
        return fields

    def _sign(self, session: str, salt: str) -> str:
        return hmac.new(self._secret, f"{session}.{salt}".encode(), hashlib.sha256).hexdigest()[:40]


def own_path(text: str) -> str:
    """Return a path of this site to go back to; anything else becomes `/`."""
    safe = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable()
    return text if safe else "/"
