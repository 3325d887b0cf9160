"""A system of record asked by HTTP: one GET, bounded in time and size, no redirects."""

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import httpx2

from gnomon.model import JsonValue
from scoring.grading import sources
from scoring.grading.answers import json_of
from scoring.grading.limit import Bounded, TookTooLong
from scoring.grading.port import CheckFailed, TryAgain

_NOT_FOUND = 404
_FOR_NOW = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers that another try may mend."""


@cache
def client_of(seconds: float) -> httpx2.Client:
    """Return the client for one time limit: making one reads all certificates, which takes long.

    It keeps no connection, so there is nothing to close.
    """
    return httpx2.Client(
        timeout=seconds,
        trust_env=False,
        follow_redirects=False,
        limits=httpx2.Limits(max_keepalive_connections=0, max_connections=None),
    )


def ask(
    url: str, headers: Mapping[str, str], bounded: Bounded, *, null_if_missing: bool
) -> "JsonValue | sources.Unknown":
    """Return the JSON document at an address; raises CheckFailed when there is no such answer.

    The limit holds over all of it: name, connection, TLS, headers and body, however they drip.
    """
    line = _Line()
    seconds = bounded.limit.total_seconds()

    def asked() -> "bytes | sources.Unknown | None":
        try:
            return _asked(url, headers, line, seconds, null_if_missing=null_if_missing)
        finally:
            line.close()

    try:
        body = bounded(asked, line.cut)
    except (TookTooLong, httpx2.TimeoutException) as error:
        raise TookTooLong(f"no answer within {seconds:g} s") from error
    except httpx2.TransportError as error:
        raise TryAgain(f"no answer: {error}") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise CheckFailed(f"no answer: {error}") from error
    if not isinstance(body, bytes):
        return body
    return json_of(body, "the answer is no JSON")


def _asked(
    url: str, headers: Mapping[str, str], line: "_Line", seconds: float, *, null_if_missing: bool
) -> "bytes | sources.Unknown | None":
    extensions = {"trace": line.trace}
    client = client_of(seconds)
    with client.stream("GET", url, headers=dict(headers), extensions=extensions) as answer:
        if answer.status_code == _NOT_FOUND:
            if null_if_missing:
                return None
            return sources.Unknown(reason="HTTP 404: the system of record does not know it")
        if not answer.is_success:
            kind = TryAgain if answer.status_code in _FOR_NOW else CheckFailed
            raise kind(f"HTTP {answer.status_code} from {answer.url.host}")
        return _body(answer)


def _body(answer: httpx2.Response) -> bytes:
    body = bytearray()
    for part in answer.iter_bytes():
        body += part
        if len(body) > sources.LARGEST:
            raise CheckFailed(f"the answer is longer than {sources.LARGEST} bytes")
    return bytes(body)


class _Line:
    """The connection of one request, which another thread can cut.

    Its own time limits hold for each read alone: a sender that drips would never reach them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._over = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take hold of the connection once it stands, before TLS is spoken over it."""
        if event != "connection.connect_tcp.complete":
            return
        # A duplicate: TLS takes the first one away, and a cut holds for both.
        own: socket.socket = info["return_value"].get_extra_info("socket").dup()
        with self._lock:
            self._socket, over = own, self._over
        if over:
            self.cut()

    def cut(self) -> None:
        """End the connection; whoever reads from it ends, too."""
        with self._lock:
            self._over = True
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None
