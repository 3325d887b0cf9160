"""What an error says, without the values that were given to the check."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar
from urllib.parse import quote

from gnomon.errors import Unavailable
from scoring.grading.port import CheckFailed

T = TypeVar("T")

HIDDEN = "[hidden]"
_SHORT = 4
"""Values below this length are hidden as whole words only."""


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
        text = re.sub(plain if len(form) >= _SHORT else rf"(?<!\w){plain}(?!\w)", HIDDEN, text)
    return text


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
