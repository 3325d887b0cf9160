"""One HTTP request as the receiver sees it, and the answer as it goes back."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from starlette.types import Receive, Scope, Send

from collector.receiving.answers import Answer, Sent, error_body, success_body
from collector.receiving.decompress import ENCODINGS, too_large
from collector.receiving.intake import Hold
from collector.receiving.refusals import Refused
from gnomon.errors import Unavailable

BODY_SECONDS = 60.0
"""How long a body may take to arrive."""

_PROTOBUF = frozenset({"application/x-protobuf", "application/protobuf"})
_JSON = "application/json"
_CORS_HEADER = re.compile(r"content-type|content-encoding|authorization|x-[a-z0-9-]+")
_DAY = "86400"


class Gone(Exception):
    """The caller hung up before its request was complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer over HTTP."""

    status: int
    body: bytes
    media: str = _JSON
    headers: Sequence[tuple[str, str]] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request: its head, and the way to its body."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""

    @classmethod
    def of(cls, scope: Scope) -> "Call":
        """Read the head of a request."""
        headers = {
            name.decode("latin-1"): text.decode("latin-1") for name, text in scope["headers"]
        }
        return cls(method=scope["method"], path=scope["path"], headers=headers)

    @property
    def media(self) -> str:
        """The content type, without parameters, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_json(self) -> bool:
        """Whether the body is JSON; raises Refused when it is nothing that can be read."""
        media = self.media
        if media == _JSON:
            return True
        if media in _PROTOBUF:
            return False
        found = f"found {media[:80]!r}" if media else "found none"
        known = "application/x-protobuf, application/protobuf or application/json"
        raise Refused("unsupported_media_type", f"Content-Type must be {known}; {found}")

    @property
    def encoding(self) -> str:
        """How the body is compressed; raises Refused when it can not be unpacked."""
        text = self.headers.get("content-encoding", "").lower()
        named = [name.strip().removeprefix("x-") for name in text.split(",")]
        used = [name for name in named if name not in {"", "identity"}]
        if not used:
            return "identity"
        if len(used) == 1 and used[0] in ENCODINGS:
            return used[0]
        raise Refused(
            "unsupported_encoding",
            f"Content-Encoding must be one of {', '.join(ENCODINGS)}; found {text[:80]!r}",
        )

    async def body(self, receive: Receive, hold: Hold, limit: int) -> bytes:
        """Read the body, with or without a length, up to the limit."""
        length = self.headers.get("content-length", "")
        if length.isdigit() and int(length) > limit:
            raise too_large(limit)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await _read(receive, hold, limit)
        except TimeoutError:
            raise Unavailable(f"The body did not arrive within {BODY_SECONDS:.0f} s.") from None

    def error(self, answer: Answer, *headers: tuple[str, str]) -> Reply:
        """Return an error in the encoding of the request, JSON when that is unknown."""
        known = self.media in _PROTOBUF
        after = () if answer.retry_after is None else (("retry-after", str(answer.retry_after)),)
        return Reply(
            status=answer.status,
            body=error_body(answer, as_json=not known),
            media=self.media if known else _JSON,
            headers=(*after, *headers),
        )

    def reply(self, answer: Answer, sent: Sent) -> Reply:
        """Return a success or an error as the sender expects it."""
        if answer.is_error:
            accepted = ("accept-encoding", ", ".join(ENCODINGS))
            return self.error(answer, *([accepted] if answer.status == 415 else []))
        as_json = self.media not in _PROTOBUF
        return Reply(
            status=answer.status,
            body=success_body(answer, sent, as_json=as_json),
            media=_JSON if as_json else self.media,
        )

    def preflight(self) -> Reply | None:
        """Return the answer to a browser that asks first; None when this is no such question."""
        if self.method != "OPTIONS" or "access-control-request-method" not in self.headers:
            return None
        asked = self.headers.get("access-control-request-headers", "").lower().split(",")
        allowed = [name.strip() for name in asked if _CORS_HEADER.fullmatch(name.strip())]
        return Reply(
            status=204,
            body=b"",
            headers=(
                ("access-control-allow-methods", "POST"),
                ("access-control-allow-headers", ", ".join(allowed)),
                ("access-control-max-age", _DAY),
            ),
        )

    def cors(self, origins: Sequence[str]) -> Sequence[tuple[str, str]] | None:
        """Return the headers that let a browser's page read the answer; None: it may not."""
        origin = self.headers.get("origin")
        if origin is None or not (origin in origins or "*" in origins):
            return None
        return (
            ("access-control-allow-origin", origin),
            ("access-control-expose-headers", "retry-after"),
            ("vary", "origin"),
        )


async def _read(receive: Receive, hold: Hold, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise too_large(limit)
        if piece:
            hold.grow(len(piece))
            pieces.append(piece)
        if not message.get("more_body", False):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def write(send: Send, reply: Reply) -> None:
    """Send an answer."""
    headers = [*reply.headers]
    if reply.status != 204:
        headers += [("content-length", str(len(reply.body))), ("content-type", reply.media)]
    raw = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers]
    await send({"type": "http.response.start", "status": reply.status, "headers": raw})
    await send({"type": "http.response.body", "body": reply.body})
