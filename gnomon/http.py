"""How every router speaks: one way to say no, one way to turn pages, one way to write a noun."""

import base64
import binascii
import datetime as dt
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from http import HTTPStatus
from typing import Annotated, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import orjson
import structlog
from fastapi import FastAPI, Query, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, create_model
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import ExceptionHandler

from gnomon.clock import LAST_MOMENT, Nanos, rfc3339, to_nanos
from gnomon.config import age
from gnomon.errors import GnomonError, InputError, NotFound, OverQuota, Unavailable
from gnomon.model import JsonValue
from gnomon.segment import id_of, segment

log = structlog.get_logger(__name__)

T = TypeVar("T")

MOST = 500
"""Items of a page at most."""

LONGEST = 4_000
"""Characters of a name or an id that is looked for; what is stored of it is shorter."""

Text = Annotated[str | None, Query(max_length=LONGEST)]
When = Annotated[
    str | None, Query(max_length=64, description="RFC 3339, or an age such as `2h` or `7d`.")
]
Limit = Annotated[int, Query(ge=1, le=MOST, description="Items of a page.")]
Cursor = Annotated[
    str | None, Query(max_length=2_000, description="`next` of the page before; opaque.")
]

PROBLEM_TYPE = "application/problem+json"
_RETRY_SECONDS = 5


class Page(BaseModel, Generic[T]):
    """Some items of a list, and the cursor of those behind them."""

    items: list[T]
    next: str | None = None


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(description="`urn:gnomon:problem:<code>`", examples=["urn:gnomon:problem:x"])
    title: str
    status: int
    detail: str
    instance: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem document.",
        "content": {PROBLEM_TYPE: {"schema": Problem.model_json_schema()}},
    }
}
"""For a router's `responses`: every error looks like this, the framework's own included."""


def problem(request: Request, error: GnomonError) -> Response:
    """Return the problem document of an error."""
    headers = {}
    if isinstance(error, Unavailable | OverQuota):
        headers["Retry-After"] = str(_RETRY_SECONDS)
    title = (type(error).__doc__ or "").strip()
    return _document(request, error.code, title, error.status, error.detail, headers)


def install_problems(app: FastAPI) -> None:
    """Answer every error of an application as a problem document."""
    handlers: Sequence[tuple[type[Exception], ExceptionHandler]] = (
        (GnomonError, _gnomon_error),
        (HTTPException, _framework_error),
        (RequestValidationError, _unreadable),
        (Exception, _defect),
    )
    for kind, handler in handlers:
        app.add_exception_handler(kind, handler)


def _gnomon_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, GnomonError)
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR and not isinstance(error, Unavailable):
        log.error("request_failed", code=error.code, path=request.url.path, exc_info=error)
    return problem(request, error)


def _framework_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.NOT_FOUND:
        return problem(request, NotFound(f"nothing answers at {request.url.path}"))
    phrase = HTTPStatus(error.status_code).phrase
    code = phrase.lower().replace(" ", "_")
    detail = phrase if error.detail == phrase else str(error.detail)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers = {"Allow": allowed(request)}
        detail = f"{request.method} is not answered here; use {headers['Allow']}"
    return _document(request, code, f"{phrase}.", error.status_code, detail, headers)


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


def allowed(request: Request) -> str:
    """Return the methods that some route answers at this path; the framework names one route's."""
    scopes = [{**request.scope, "method": method} for method in _METHODS]
    return ", ".join(
        scope["method"]
        for scope in scopes
        if any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)
    )


def _unreadable(request: Request, error: Exception) -> Response:
    """Say which field is wrong and why; what was sent is not repeated."""
    assert isinstance(error, RequestValidationError)
    issues = [
        f"{'.'.join(str(part) for part in issue['loc'][1:]) or issue['loc'][0]}: {issue['msg']}"
        for issue in error.errors()
    ]
    return problem(request, InputError("; ".join(issues)))


def _defect(request: Request, error: Exception) -> Response:
    log.error("request_failed", code="internal", path=request.url.path, exc_info=error)
    detail = f"{type(error).__name__}; the log of Gnomon has the rest"
    return problem(request, GnomonError(detail))


def _document(
    request: Request, code: str, title: str, status: int, detail: str, headers: Mapping[str, str]
) -> Response:
    body = {
        "type": f"urn:gnomon:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": request.url.path,
    }
    return Response(
        orjson.dumps(body), status_code=status, headers=dict(headers), media_type=PROBLEM_TYPE
    )


# Parameters


class IdConvertor(Convertor[str]):
    """`{run_id:id}` in a route: whatever a sender chose as an id, slashes and line breaks too."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        """Return the id."""
        return id_of(value)

    def to_string(self, value: str) -> str:
        """Return the segment."""
        return segment(value)


# The framework knows convertors by name only, and reads the name when a route is declared.
register_url_convertor("id", IdConvertor())


def known_parameters(request: Request) -> None:
    """Refuse query parameters that the route does not know, and single ones that are repeated.

    For a router's `dependencies`: a mistyped filter must not answer with everything.
    """
    route = request.scope.get("route")
    if not request.query_params or not isinstance(route, APIRoute):
        return
    known = _parameters(route)
    for name in request.query_params:
        if name not in known:
            allowed = ", ".join(known) or "none"
            raise InputError(f"{name[:40]!r} is no parameter here; there are: {allowed}")
        if not known[name] and len(request.query_params.getlist(name)) > 1:
            raise InputError(f"{name}: say it once")


def _parameters(route: APIRoute) -> Mapping[str, bool]:
    """Return the query parameters of a route, and whether each may be repeated."""
    return {
        field.alias: _is_list(field.field_info.annotation)
        for field in _query_fields(route.dependant)
    }


def _query_fields(dependant: Dependant) -> Iterator[Any]:
    yield from dependant.query_params
    for inner in dependant.dependencies:
        yield from _query_fields(inner)


def _is_list(hint: Any) -> bool:
    return get_origin(hint) is list or any(_is_list(part) for part in get_args(hint))


# Cursors


def pack(kind: str, *values: str | int) -> str:
    """Return an opaque cursor of the list `kind`, made of the last row's sort key."""
    raw = orjson.dumps([kind, *values])
    return base64.urlsafe_b64encode(zlib.crc32(raw).to_bytes(4, "big") + raw).decode().rstrip("=")


def unpack(kind: str, cursor: str, *types: type[str] | type[int]) -> tuple[Any, ...]:
    """Return what a cursor of the list `kind` was made of; anything else is damaged."""
    values = _unpacked(cursor)
    fits = len(values) == len(types) + 1 and all(
        type(value) is expected for value, expected in zip(values[1:], types, strict=True)
    )
    if not fits or values[0] != kind:
        raise InputError("the cursor is damaged or of another list; start without one")
    return tuple(values[1:])


def _unpacked(cursor: str) -> list[Any]:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        if zlib.crc32(raw[4:]) != int.from_bytes(raw[:4], "big"):
            return []
        values = orjson.loads(raw[4:])
    except (binascii.Error, ValueError):
        return []
    return values if isinstance(values, list) else []


# Moments

_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)")


def moment_of(text: str, now: Nanos) -> Nanos:
    """Read RFC 3339, or an age such as `2h` or `7d` before `now`."""
    before = age(text)
    if before is not None:
        return Nanos(max(0, now - before // dt.timedelta(microseconds=1) * 1000))
    match = _RFC3339.fullmatch(text.strip())
    if match is None:
        raise InputError(_NO_MOMENT.format(text[:40]))
    date, time, fraction, zone = match.groups()
    try:
        whole = dt.datetime.fromisoformat(f"{date}T{time}{zone.upper().replace('Z', '+00:00')}")
    except ValueError:
        raise InputError(_NO_MOMENT.format(text[:40])) from None
    moment = to_nanos(whole) + int((fraction or "").ljust(9, "0"))
    if not 0 <= moment <= LAST_MOMENT:
        raise InputError(_NO_SUCH_TIME.format(text[:40]))
    return Nanos(moment)


def window_of(
    since: str | None, until: str | None, now: Nanos
) -> tuple[Nanos | None, Nanos | None]:
    """Read both ends of a window, each as `moment_of` does; an end before its start is refused."""
    start, end = (None if text is None else moment_of(text, now) for text in (since, until))
    if start is not None and end is not None and end <= start:
        raise InputError(f"until={until} must lie after since={since}: no run can start between")
    return start, end


_NO_SUCH_TIME = "{!r} lies outside the times that are kept: 1970 to 2262 (until April 11)"
_NO_MOMENT = "{!r} is no time; write 2026-01-31T12:00:00Z (+ as %2B), or an age such as 24h or 7d"


# Nouns as JSON


class Json(Response):
    """An answer written by orjson."""

    media_type = "application/json"

    def render(self, content: JsonValue) -> bytes:
        """Write dataclasses, enums and mappings; moments must be text already."""
        return orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS)


def shown(noun: Any) -> dict[str, JsonValue]:
    """Return a dataclass as the API writes it: the same names, moments as RFC 3339."""
    kind: Any = type(noun)
    return {name: write(getattr(noun, name)) for name, write in _writers(kind)}


def _same(value: Any) -> Any:
    return value


def _moment(value: Nanos | None) -> str | None:
    return None if value is None else rfc3339(value)


def _each(value: Sequence[Any]) -> list[dict[str, JsonValue]]:
    return [shown(item) for item in value]


@cache
def _writers(row_type: Any) -> Sequence[tuple[str, Callable[[Any], Any]]]:
    hints = get_type_hints(row_type)
    return [(field.name, _writer(hints[field.name])) for field in fields(row_type)]


def _writer(hint: Any) -> Callable[[Any], Any]:
    if hint is Nanos or Nanos in get_args(hint):
        return _moment
    if any(is_dataclass(inner) for inner in get_args(hint)):
        return _each
    return _same


def described(row_type: Any, **optional: Any) -> type[BaseModel]:
    """Return the model that describes `shown` of a dataclass to readers of the OpenAPI.

    `optional`: fields that an answer adds now and then.
    """
    hints = get_type_hints(row_type)
    given: dict[str, Any] = {
        field.name: (_described(hints[field.name]), ...) for field in fields(row_type)
    }
    given.update({name: (hint, None) for name, hint in optional.items()})
    model: type[BaseModel] = create_model(row_type.__name__, __doc__=row_type.__doc__, **given)
    return model


def _described(hint: Any) -> Any:
    moment = Field(json_schema_extra={"format": "date-time"})
    inner = get_args(hint)
    if hint is Nanos:
        return Annotated[str, moment]
    if Nanos in inner:
        return Annotated[str | None, moment]
    if get_origin(hint) is not None and any(is_dataclass(part) for part in inner):
        return Sequence[described(inner[0])]  # type: ignore[misc] # a type made at run time
    return hint
