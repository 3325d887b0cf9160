"""A system of record asked by HTTP: one GET, bounded in time and size, no redirects."""

import json
import time
from collections.abc import Mapping
from datetime import timedelta
from functools import cache

import httpx2

from gnomon.model import JsonValue
from scoring.grading import sources
from scoring.grading.port import CheckFailed

_NOT_FOUND = 404


@cache
def client_of(seconds: float) -> httpx2.Client:
    """Return the client for one time limit: making one reads all certificates, which takes long.

    It keeps no connection, so there is nothing to close.
    """
    return httpx2.Client(
        timeout=seconds,
        trust_env=False,
        follow_redirects=False,
        limits=httpx2.Limits(max_keepalive_connections=0),
    )


def ask(
    url: str, headers: Mapping[str, str], timeout: timedelta, *, null_if_missing: bool
) -> "JsonValue | sources.Unknown":
    """Return the JSON document at an address; raises CheckFailed when there is no such answer."""
    seconds = timeout.total_seconds()
    ends = time.monotonic() + seconds
    try:
        with client_of(seconds).stream("GET", url, headers=dict(headers)) as answer:
            if answer.status_code == _NOT_FOUND:
                if null_if_missing:
                    return None
                return sources.Unknown(reason="HTTP 404: the system of record does not know it")
            if not answer.is_success:
                raise CheckFailed(f"HTTP {answer.status_code} from {answer.url.host}")
            body = _body(answer, ends, seconds)
    except httpx2.TimeoutException as error:
        raise CheckFailed(f"no answer within {seconds:g} s") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise CheckFailed(f"no answer: {error}") from error
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise CheckFailed("the answer is no JSON") from error


def _body(answer: httpx2.Response, ends: float, seconds: float) -> bytes:
    body = bytearray()
    for part in answer.iter_bytes():
        body += part
        if len(body) > sources.LARGEST:
            raise CheckFailed(f"the answer is longer than {sources.LARGEST} bytes")
        if time.monotonic() > ends:
            raise CheckFailed(f"no whole answer within {seconds:g} s")
    return bytes(body)
