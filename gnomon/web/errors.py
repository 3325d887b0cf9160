"""What an error page says: what failed, what is kept, what to do."""

from dataclasses import dataclass
from http import HTTPStatus

import structlog
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from gnomon.errors import GnomonError, InputError, NotFound, Unavailable
from gnomon.web.known import wrong

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorView:
    """The page."""

    status: int
    code: str
    title: str
    detail: str
    kept: str
    mend: str


_NOT_ALLOWED = ErrorView(
    status=405,
    code="method_not_allowed",
    title="Method not allowed",
    detail="this address is there to be read; nothing can be sent to it that way",
    kept="Nothing was changed.",
    mend="Go back and use the links and forms of the page.",
)
_BAD = "The address or the form holds something this page can not use."
_NOTHING = "Nothing was changed."


def of_gnomon(error: Exception) -> ErrorView:
    """Read an error of the house."""
    assert isinstance(error, GnomonError)
    match error:
        case NotFound():
            title, kept = "Not found", "It may have been typed wrongly, or it has not arrived yet."
            mend = "Search for it, or look at the list."
        case InputError():
            title, kept, mend = _BAD, _NOTHING, "Change what is named above and try again."
        case Unavailable():
            title = type(error).__doc__ or "Something did not answer."
            kept = "What agents send meanwhile is kept in the queue; nothing is lost."
            mend = "Wait a little and reload. /readyz names what is wrong."
        case _:
            title, kept = "Gnomon could not answer.", _NOTHING
            mend = "Run `gnomon doctor` where Gnomon runs; it names the mend."
    return ErrorView(
        status=error.status, code=error.code, title=title, detail=error.detail, kept=kept, mend=mend
    )


def of_http(error: Exception) -> ErrorView:
    """Read an error of the framework."""
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return _NOT_ALLOWED
    if error.status_code == HTTPStatus.NOT_FOUND:
        return of_gnomon(NotFound("there is no page at this address"))
    phrase = HTTPStatus(error.status_code).phrase
    return ErrorView(
        status=error.status_code,
        code=phrase.lower().replace(" ", "_"),
        title=phrase,
        detail=str(error.detail),
        kept=_NOTHING,
        mend="Go back and use the links of the page.",
    )


def of_validation(error: Exception) -> ErrorView:
    """Read what the framework says of a field; of bodies nothing is repeated."""
    assert isinstance(error, RequestValidationError)
    found = [
        wrong(str(issue["loc"][-1]), issue["input"], f"can not be used: {issue['msg']}").detail
        if issue["loc"][0] in ("query", "path") and isinstance(issue["input"], str)
        else f"{issue['loc'][-1]}: {issue['msg']}"
        for issue in error.errors()
    ]
    return of_gnomon(InputError("; ".join(found)))


def of_bug(error: Exception) -> ErrorView:
    """Note an error nobody foresaw."""
    log.error("page_failed", error=repr(error), exc_info=error)
    return ErrorView(
        status=500,
        code="internal",
        title="This page failed.",
        detail=f"{type(error).__name__}; the log of Gnomon has the rest.",
        kept="What agents send is received and stored as before.",
        mend="Reload; if it fails again, report it with the lines of the log.",
    )


def as_problem(view: ErrorView, path: str) -> dict[str, str | int]:
    """Return the error as the API writes it."""
    return {
        "type": f"urn:gnomon:problem:{view.code}",
        "title": view.title,
        "status": view.status,
        "detail": view.detail,
        "instance": path,
    }
