"""What an answer says of the call it answers: objects field by field, lists item by item.

What speaks of the call stands at the top, or in a wrapper (`result`, `data`, `approval`). A record
under a name of its own (`order: {...}`) and a list in one (`refunds: [...]`) speak of themselves.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gnomon.model import JsonValue
from scoring.policies.fields import Name, Part, name_of
from scoring.policies.recorded import read
from scoring.policies.remarks import (
    ASKED,
    WORDS,
    Says,
    failing,
    heaviest,
    is_of,
    of_code,
    of_text,
    of_words,
    verb_of,
    word_set,
)

_TOLD = word_set(
    "error errors message detail details reason code title type cause description content text"
    " errormessage errortype status statuscode"
)
"""Where an answer that says no says why."""

_NO = frozenset({"false", "no", "0"})
_YES = frozenset({"true", "yes", "1"})
_NONE = frozenset({"", "none", "null", "false", "no", "0"})

_HTTP = range(100, 600)
_DEEP = 8
_MOST_HEARD = 1_000
"""Items of a list; a longer one is data."""
_MOST_TOLD = 50


@dataclass(frozen=True, slots=True)
class Listener:
    """What hears an answer; `verb` is what the tool is there to do."""

    verb: str = ""

    def hears(self, answer: JsonValue, depth: int = 0) -> Says:
        """Return what an answer says of the call."""
        if isinstance(answer, bool):
            return Says.YES if answer else Says.EITHER
        if isinstance(answer, str):
            return self._text(answer, depth)
        if not isinstance(answer, dict | list):
            return Says.NOTHING
        if depth > _DEEP:
            return Says.EITHER
        return (
            self._list(answer, depth) if isinstance(answer, list) else self._object(answer, depth)
        )

    def _text(self, text: str, depth: int) -> Says:
        value = read(text) if _written(text) else text
        return of_text(text, self.verb) if value == text else self.hears(value, depth + 1)

    def _list(self, items: Sequence[JsonValue], depth: int) -> Says:
        """Hear every item: all must grant. Several texts in words of their own are a list of such."""
        told = [
            Says.NOTHING if isinstance(item, str) and says is Says.STRANGE and len(items) > 1 else says
            for item in items[:_MOST_HEARD]
            for says in (self.hears(item, depth + 1),)
        ]  # fmt: skip
        most = max(told, default=Says.NOTHING)
        return most if {most} == {*told} else _no_grant(most)

    def _object(self, answer: Mapping[str, JsonValue], depth: int) -> Says:
        told = aside = Says.NOTHING
        refused = False
        # Beside structured content `content` is the same once more, as prose.
        rendered = bool(answer.get("structuredContent") or answer.get("structured_content"))
        for given, value in answer.items():
            name = name_of(given)
            if name.part is Part.REMARK or (rendered and name.whole == "content"):
                aside = heaviest(aside, self.hears(value, depth + 1))
                continue
            says = self._field(name, value, depth)
            if len(answer) == 1:
                says = max(says, self._alone(name, value, depth))
            refused = refused or says is Says.NO
            told = heaviest(told, says)
        if refused:
            told = max(told, failing(*texts_of(answer)))
        # Strange words beside an answer count only where nothing else speaks.
        affirmed = rendered or told in (Says.YES, Says.GRANTED, Says.REPEATED)
        return told if affirmed and aside is Says.STRANGE else heaviest(told, aside)

    def _field(self, name: Name, value: JsonValue, depth: int) -> Says:
        """Return what a field says of the call."""
        if name.true is not Says.NOTHING and _holds(value):
            return name.true
        if name.withdraws and _told(value) and not is_of(name.withdraws, self.verb):
            return Says.WITHDRAWN
        hear = _HEARD.get(name.part)
        return Says.NOTHING if hear is None else hear(self, name, value, depth)

    def _alone(self, name: Name, value: JsonValue, depth: int) -> Says:
        """Hear the only field of an answer: is a record pending, or the call? Either may be meant."""
        if name.part is not Part.OTHER:
            return Says.NOTHING
        if isinstance(value, dict) or (isinstance(value, str) and " " not in value.strip()):
            return Says.EITHER if self.hears(value, depth + 1) > Says.STRANGE else Says.NOTHING
        return Says.EITHER if value is False else Says.NOTHING

    def _state(self, name: Name, value: JsonValue, depth: int) -> Says:
        says = self._status(name, value, depth)
        # `order_status` may be that of what was looked up.
        return says if name.gated else _no_grant(says) if says <= Says.STRANGE else Says.EITHER

    def _status(self, name: Name, value: JsonValue, depth: int) -> Says:
        match value:
            case bool():
                return self.hears(value)
            case int():
                return of_code(value) if value in _HTTP else Says.STRANGE
            case str() if value.strip().isdecimal():
                return self._status(name, int(value.strip()[:4]), depth)
            case str():
                return self._word(name, value.strip(), depth)
            case dict() | list() if value:
                return self.hears(value, depth + 1)
            case _:
                return Says.STRANGE

    def _word(self, name: Name, text: str, depth: int) -> Says:
        value = read(text) if _written(text) else text
        if value != text:
            return self._status(name, value, depth + 1)
        heard = of_text(text, self.verb)
        if heard > Says.EITHER:
            return heard
        # `approval_status: created` is an approval that was asked for.
        asked = [word for word in name.subject if word in ASKED]
        told = of_words(" ".join([*asked, text[:500]]), self.verb)
        return Says.STRANGE if told is Says.NOTHING else told

    def _grant(self, name: Name, value: JsonValue, depth: int) -> Says:
        plain = _plain(value)
        if plain in _NO:
            return Says.NO if name.sure else Says.EITHER
        if plain in _YES:
            return Says.GRANTED if name.grants else Says.YES
        if plain in ("", "null", "none"):
            return Says.EITHER
        says = self.hears(value, depth + 1)
        return says if name.sure else _no_grant(says)

    def _refusal(self, name: Name, value: JsonValue, depth: int) -> Says:
        del depth
        if _holds(value):
            # One that waits may have been asked for, or have been sent on its way.
            return Says.EITHER if WORDS[name.whole] is Says.WAITING else WORDS[name.whole]
        return Says.EITHER if _told(value) else Says.NOTHING

    def _error(self, name: Name, value: JsonValue, depth: int) -> Says:
        del name, depth
        return Says.NOTHING if _plain(value) in _NONE else Says.NO

    def _errors(self, name: Name, value: JsonValue, depth: int) -> Says:
        del name, depth
        return Says.EITHER if value else Says.NOTHING

    def _code(self, name: Name, value: JsonValue, depth: int) -> Says:
        del name, depth
        plain = _plain(value)
        return of_code(int(plain)) if len(plain) == 3 and plain.isdecimal() else Says.NOTHING

    def _wrapped(self, name: Name, value: JsonValue, depth: int) -> Says:
        del name
        return self.hears(value, depth + 1)

    def _gate(self, name: Name, value: JsonValue, depth: int) -> Says:
        if isinstance(value, dict | list):
            return self.hears(value, depth + 1)
        if value is None:
            return Says.EITHER
        says = self._status(name, value, depth)
        # `approval: A-17` names it, and says nothing of what became of it.
        return Says.NOTHING if says is Says.STRANGE and _id(value) else says

    def _gated(self, name: Name, value: JsonValue, depth: int) -> Says:
        del name
        whole = isinstance(value, dict | list) or _written(value)
        return self.hears(value, depth + 1) if whole else Says.NOTHING


@lru_cache(maxsize=4096)
def listener_of(tool: str) -> Listener:
    """Return what hears the answers of a tool."""
    return Listener(verb_of(tool))


_HEARD: Mapping[Part, Callable[[Listener, Name, JsonValue, int], Says]] = {
    Part.STATE: Listener._state,
    Part.GRANT: Listener._grant,
    Part.REFUSAL: Listener._refusal,
    Part.ERROR: Listener._error,
    Part.ERRORS: Listener._errors,
    Part.CODE: Listener._code,
    Part.WRAPPER: Listener._wrapped,
    Part.GATE: Listener._gate,
    Part.GATED: Listener._gated,
}


def _holds(value: JsonValue) -> bool:
    return value is True or (isinstance(value, str) and _plain(value) in _YES)


def _told(value: JsonValue) -> bool:
    """Return whether what the name of a field says is so: a number but 1 counts something else."""
    return value == 1 or (isinstance(value, str) and _plain(value) not in _NONE)


_WORD = re.compile(r"[\w.:#/@+=~-]+")


def _id(value: JsonValue) -> bool:
    """Return whether a text is one word with letters and digits in it, or `A-XKQ`."""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        return False
    lettered = value[0].isupper() and value[1:2] == "-"
    return lettered or (any(map(str.isdigit, value)) and any(map(str.isalpha, value)))


def _no_grant(says: Says) -> Says:
    """Return what is said where a yes is that of a part, or a trait of what was looked up."""
    return Says.YES if says is Says.GRANTED else says


def texts_of(value: JsonValue) -> list[str]:
    """Return the texts and codes an answer explains itself with; a bounded number."""
    found: list[str] = []
    waiting: list[tuple[JsonValue, int]] = [(value, 0)]
    while waiting and len(found) < _MOST_TOLD:
        one, depth = waiting.pop()
        if isinstance(one, dict) and depth < _DEEP:
            waiting += [
                (inner, depth + 1) for name, inner in one.items() if name_of(name).whole in _TOLD
            ]
        elif isinstance(one, list) and depth < _DEEP:
            waiting += [(inner, depth + 1) for inner in one[:_MOST_TOLD]]
        else:
            found.append(one.strip() if isinstance(one, str) else _plain(one))
    return found


def _written(value: JsonValue) -> bool:
    """Return whether a text may be a value of its own, written down."""
    return isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"', "'")


def _plain(value: JsonValue) -> str:
    """Return a text, number or word in small letters; of a list or object whether it is empty."""
    match value:
        case str():
            return value.strip().lower()
        case list() | dict():
            return "…" if value else ""
        case None:
            return "null"
        case _:
            return str(value).lower()
