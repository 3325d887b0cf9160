"""What every request to pages and API passes: it is measured, bounded, and must mean this host."""

import json
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gnomon.errors import Forbidden, GnomonError, InputError, TooLarge
from gnomon.telemetry import Metrics
from gnomon.tracing import say, span

MOST = 4 * 1024**2
"""Bytes of a request body; the largest is a policy to be checked."""

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Edge:
    """Measures by the route's own pattern; refuses large bodies and foreign host names.

    A page elsewhere can point a name of its own at this machine and read what its visitor may
    read (DNS rebinding); the name it used gives it away.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, host: str | None) -> None:
        self._app = app
        self._metrics = metrics
        self._hosts = None if host is None else _LOCAL | {host.lower(), f"[{host.lower()}]"}
        """None: any name will do."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        method = scope["method"]
        with span(method, **{"http.request.method": method}):
            try:
                await self._pass_on(scope, receive, _telling(send))
            finally:
                name = getattr(scope.get("route"), "path", "other")
                self._metrics.request_duration.labels(name).observe(time.perf_counter() - began)
                say(f"{method} {name}", **{"http.route": name})

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refused(scope)
        if refused is not None:
            await _answer(scope, send, refused)
        else:
            await self._app(scope, _bounded(receive), send)

    def _refused(self, scope: Scope) -> GnomonError | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if self._hosts is not None and name not in self._hosts:
            return InputError(
                "this name does not belong to this Gnomon; ask by localhost or by GNOMON_HOST"
            )
        if scope["method"] not in _SAFE and _from_elsewhere(headers, host):
            return Forbidden("a page from elsewhere may not change anything here")
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > MOST:
            return _too_large()
        return None


def _from_elsewhere(headers: dict[bytes, bytes], host: str) -> bool:
    """Tell a request that another site's page made, from one of our pages or of a program."""
    if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
        return True
    origin = headers.get(b"origin")
    return origin is not None and origin.decode("latin-1").lower().partition("://")[2] != host


def _too_large() -> TooLarge:
    return TooLarge(f"a request here has at most {MOST // 1024**2} MiB")


def _bounded(receive: Receive) -> Receive:
    """Count a body that does not say its length."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST:
            raise _too_large()
        return message

    return counted


def _telling(send: Send) -> Send:
    """Note the status of the answer on the request's span."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            say(**{"http.response.status_code": message["status"]})
        await send(message)

    return told


async def _answer(scope: Scope, send: Send, error: GnomonError) -> None:
    body = json.dumps(
        {
            "type": f"urn:gnomon:problem:{error.code}",
            "title": (type(error).__doc__ or "").strip(),
            "status": error.status,
            "detail": error.detail,
            "instance": scope["path"],
        }
    ).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
