"""What an address may ask for: a name that a page does not know must not show everything."""

from collections.abc import Collection, Iterable

from fastapi import Request

from gnomon.errors import InputError
from gnomon.http import known_parameters

_OWN_READING = ("/runs", "/news/")
"""Lists have more filters than a signature can name; they refuse the others themselves."""


def only_known(request: Request) -> None:
    """Refuse an address with parameters that the page does not know; a dependency of every page."""
    if not request.url.path.startswith(_OWN_READING):
        known_parameters(request)


_SHOWN = 60
"""So many letters of what was given are repeated."""


def wrong(name: str, given: str, why: str) -> InputError:
    """Return the refusal of a value: its field, what was given, what is allowed."""
    shown = given if len(given) <= _SHOWN else f"{given[:_SHOWN]}…"
    return InputError(f"{name}: {shown!r} {why}")


def none_of(name: str, given: str, known: Iterable[str]) -> InputError:
    """Return the refusal of a value that must be one of a few words."""
    return wrong(name, given, f"is none of {', '.join(known)}")


def refuse_unknown(given: Collection[str], known: Collection[str]) -> None:
    """Raise InputError that names what is not known, and all that is."""
    for name in given:
        if name not in known:
            raise InputError(f"{name[:40]!r} is no filter here; there are: {', '.join(known)}")
