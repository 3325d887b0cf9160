"""What an error says, without the values that were given to the check."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar
from urllib.parse import quote

from gnomon.errors import Unavailable
from gnomon.model import JsonValue
from scoring.grading.port import CheckFailed

T = TypeVar("T")

HIDDEN = "[hidden]"
_SHORT = 4
"""Values below this length are hidden as whole words only."""

_WORD = re.compile(r"[a-z]{1,12}|[A-Z][a-z]{0,11}|[A-Z]{1,12}")
"""A word such as people say; hidden as a whole word only."""

_TELLS = re.compile(r"secret|token|passw|pwd|key|auth|cred|cookie|session|sign|pin", re.IGNORECASE)
"""Names under which options hold what nobody may read, though it be a plain word."""


def guarded(work: Callable[[], T], values: Iterable[str]) -> T:
    """Return what a check returns; what it raises says none of the values, nor hands on who did.

    Every check goes through here: reasons are stored, and shown to whoever may read the pages.
    """
    try:
        return work()
    except Unavailable:
        raise
    except CheckFailed as error:
        raise type(error)(without(str(error), values)) from None
    except Exception as error:  # noqa: BLE001 - told as a failure of the check, without its text's secrets
        raise CheckFailed(f"the check broke: {without(told(error), values)}") from None


def told(error: BaseException) -> str:
    """Return the class and words of an error; of one that cannot say what it is, its class."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - the words of a plug-in's error are code of the plug-in
        return type(error).__name__


def without(text: str, values: Iterable[str]) -> str:
    """Return text without any of the values, however a library may have written them."""
    forms = {form for value in values for form in _forms(value) if form.strip()}
    for form in sorted(forms, key=len, reverse=True):
        plain = re.escape(form)
        alone = len(form) < _SHORT or _WORD.fullmatch(form)
        text = re.sub(rf"(?<!\w){plain}(?!\w)" if alone else plain, HIDDEN, text)
    return text


def secrets_in(options: JsonValue, *, telling: bool = False) -> Iterator[str]:
    """Yield the texts of options that no reason tells: all but plain words, `mode: strict`.

    A plain word is one, too, under a name that says so, such as `password`.
    """
    match options:
        case str():
            if telling or not _WORD.fullmatch(options):
                yield options
        case dict():
            for name, value in options.items():
                yield from secrets_in(value, telling=telling or bool(_TELLS.search(name)))
        case list():
            for value in options:
                yield from secrets_in(value, telling=telling)
        case _:
            pass


def _forms(value: str) -> Iterable[str]:
    yield value
    yield value.strip()
    yield from value.splitlines()
    yield repr(value)[1:-1]
    yield repr(value.encode("utf-8", "replace"))[2:-1]
    yield quote(value)
    yield quote(value, safe="")
    # Credentials stand behind a word, as in `Bearer …`.
    yield from (word for word in value.split() if len(word) >= 2 * _SHORT)
