"""What a word or a remark that a tool answers says of the call: a table of words, and nothing else.

Only words of the table are understood. A remark speaks for a call if all of its words are
understood and none of them denies, asks or waits; whatever else it says is strange to us.
"""

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from http import HTTPStatus

from scoring.policies.lost import LOST_CODES, lost, lost_code, unsent


class Says(IntEnum):
    """What a part of an answer says of the call; of several parts the heaviest counts."""

    NOTHING = 0
    """Data, or a document: it speaks of something else."""
    WITHDRAWN = 1
    """`revoked`: it takes a yes back that stands beside it, and alone is data."""
    YES = 2
    """It was done; of what was asked for, perhaps the asking alone."""
    GRANTED = 3
    """Yes, in words of `GRANTED`."""
    REPEATED = 4
    STRANGE = 5
    """A remark in words that are not in the table."""
    EITHER = 6
    """It can be read either way."""
    NO = 7
    LATE = 8
    """A timeout, a lost answer: nobody knows whether it took effect."""
    WAITING = 9


def heaviest(one: Says, other: Says) -> Says:
    """Return what two parts of an answer say together: a yes beside its contrary can be read either way."""
    two = {one, other}
    # `committed` beside "no timeout occurred" or "your session will timeout" is no timeout.
    if two & {Says.WITHDRAWN, Says.LATE} and two & {Says.YES, Says.GRANTED, Says.REPEATED}:
        return Says.EITHER
    return max(two)


def word_set(text: str) -> frozenset[str]:
    """Return the words of a table that is written as a text."""
    return frozenset(text.split())


GRANTED = word_set("approved granted allowed authorized authorised permitted verified cleared yes")
"""Words that say yes to what was asked for."""
WITHDRAWN = word_set(
    "cancelled canceled revoked expired withdrawn superseded voided void rescinded retracted"
    " annulled invalidated overturned"
)
"""Words that take a yes back."""
_DONE = word_set(
    "ok okay true success succeeded successful successfully done completed complete finished passed"
    " accepted confirmed valid validated matched match found created committed updated deleted"
    " removed added saved stored changed paid charged captured settled refunded reimbursed credited"
    " issued transferred booked shipped delivered fulfilled active enabled ✅ ✓ ✔ 👍"
)
"""Words that say that something was done, or is as it should be."""
ASKED = word_set("request requested approval authorization authorisation permission")
"""Beside these a word of `_DONE` may tell of the asking alone: `approval request created`."""
_NEUTRAL = word_set(
    "a an the this that it its is are was were has have had been by for of on in at to from with and"
    " as now already also your you his her their our all both customer manager lead supervisor user"
    " agent system team order refund payment money amount account card invoice item items line row"
    " rows record records entry file identity id name email address ticket case status state result"
    " outcome decision verdict operation transaction transfer action call tool"
)
"""Words that change nothing of what is said."""
_DENYING = word_set(
    "not no non none never neither nor nobody nothing without un false 0 cannot cant dont doesnt"
    " didnt isnt wasnt wont couldnt hasnt havent shouldnt ? ❌ ✗ ✘ 👎"
)
_NEEDING = word_set("need needs needed require requires required")
_WAITING = "pending requested waiting awaiting inreview underreview submitted pendingapproval"
_REFUSED = "failed failure error denied rejected declined refused notfound forbidden unauthorized"
_REPEATED = "deduplicated duplicate alreadydone replayed"
WORDS = {
    **dict.fromkeys(_WAITING.split(), Says.WAITING),
    **dict.fromkeys(_REFUSED.split(), Says.NO),
    **dict.fromkeys(_REPEATED.split(), Says.REPEATED),
    **{f"not{word}": Says.NO for word in GRANTED},
    **{f"un{word}": Says.NO for word in ("approved", "authorised", "verified")},
    "open": Says.EITHER,
}
"""What a status says that is none of the good ones, in small letters and digits only."""

_REMARK = 80
"""Characters of a text that is a remark, however it is divided; a longer one may be a document."""
_LONG_REMARK = 240
_SENTENCES = 2
"""Of so many sentences at most a longer text is a remark, too; others may speak of anything."""

_MOST = 500
"""Characters that are looked at."""

_FAILING = re.compile(
    r"(?:error|exception|failure|failed|fatal)\s*[:!-]"
    r"|error (?:executing|calling|invoking|running|while|in|from)\b"
    r"|(?:tool|request|call|operation) failed\b"
    r"|traceback \(most recent call last\)",
    re.IGNORECASE,
)
_STATUS_LINE = re.compile(r"(?:HTTP(?:/\d(?:\.\d)?)?\s+)?([45]\d\d)\b[\s:-]*(.*)", re.IGNORECASE)
_PHRASES = {status.value: re.sub(r"\W", "", status.phrase).lower() for status in HTTPStatus}
_SENTENCE_END = re.compile(r"[.!?]\s+(?=\S)|\n+(?=\S)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOKEN = re.compile(r"[^\W_]+|\?|[^\x00-\x7f\w\s€£¥\u2013-\u201d…·\ufe0f]")
_NAMES = re.compile(
    r"(?<=\bby )[A-Z][\w.-]*(?:\s+[A-Z][\w.-]*)*"
    r"|\b[A-Z]{1,4}[-#]?\d+\b|\b\d[\d.,]*\s?[A-Z]{3}\b|\b[A-Z]{3}\s?\d[\d.,]*"
)
"""Names of people, ids (`R-91`) and amounts (`40 EUR`), which no table has."""
_APOSTROPHE = re.compile(r"['\u2019]")


def of_text(text: str, verb: str = "") -> Says:
    """Return what a text says that a tool answered; `verb`: what the tool is there to do."""
    start = text.strip()[:_MOST]
    if start.lower() in ("", "none", "null"):
        return Says.NOTHING
    squeezed = squeeze(start)
    if squeezed in WORDS and " " not in start:
        return WORDS[squeezed]
    if _FAILING.match(start):
        return failing(start)
    line = _STATUS_LINE.fullmatch(start.split("\n", 1)[0])
    if line is not None and squeeze(line[2]).startswith(_PHRASES.get(int(line[1]), "\n")):
        return of_code(int(line[1]))
    if _document(start):
        return _of_document(start)
    told = of_words(start, verb)
    if told is Says.STRANGE and " " not in start and any(map(str.isdigit, start)):
        return Says.NOTHING  # an id, a date, a number with its unit
    return told


@lru_cache(maxsize=4096)
def of_words(text: str, verb: str = "") -> Says:
    """Return what a remark says, or a status: every word of it counts."""
    squeezed = squeeze(text)
    if squeezed in WORDS:
        return WORDS[squeezed]
    words = words_of(text)
    if lost(words):
        return Says.LATE
    if unsent(words):
        return Says.NO
    bad = {WORDS[word] for word in words if word in WORDS}
    good = {word for word in words if _good(word, verb)}
    denied = not _DENYING.isdisjoint(words)
    named = frozenset(words_of(_NAMES.sub(" ", text)))
    known = good | WORDS.keys() | _NEUTRAL | ASKED | _DENYING
    strange = {word for word in named if not known & {word, word.removesuffix("s")}}
    if bad or (denied and (good or not ASKED.isdisjoint(words))):
        plain = len(bad) == 1 and not (good or denied or strange - {"review"}) and " " not in text
        return bad.pop() if plain else Says.EITHER
    if not WITHDRAWN.isdisjoint(set(words) - good) and (ASKED | GRANTED) & set(words):
        return Says.EITHER
    if denied or any(not word.isdecimal() for word in strange):
        return Says.STRANGE
    if not good:
        return Says.STRANGE if named - strange else Says.NOTHING
    if good & GRANTED:
        return Says.GRANTED
    return Says.YES if ASKED.isdisjoint(words) else Says.STRANGE


def of_name(words: Sequence[str]) -> Says:
    """Return what a field says whose name is a statement that is true."""
    said = frozenset(words)
    if lost(words) or said & WORDS.keys():
        return Says.EITHER
    open_ = said & (_DENYING | _NEEDING)
    return Says.EITHER if open_ and said & (ASKED | GRANTED | {"review"}) else Says.NOTHING


def of_code(code: int) -> Says:
    """Return what an HTTP status says; one that tells of no end can be read either way."""
    if code in LOST_CODES:
        return Says.LATE
    if code >= HTTPStatus.BAD_REQUEST:
        return Says.NO
    whole = (HTTPStatus.ACCEPTED, HTTPStatus.MULTI_STATUS)
    return Says.NOTHING if HTTPStatus.OK <= code < HTTPStatus.MULTIPLE_CHOICES and code not in whole else Says.EITHER  # fmt: skip


def failing(*told: str) -> Says:
    """Return whether what failed may have taken effect all the same."""
    open_ = any(lost_code(text) or lost(words_of(text[:_MOST])) for text in told)
    return Says.LATE if open_ else Says.NO


def squeeze(text: str) -> str:
    """Return the small letters and digits of a text."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def verb_of(tool: str) -> str:
    """Return what a tool is there to do by its name: `close` of `tickets.close_ticket`."""
    words = words_of(re.split(r"[./:]|__", tool)[-1])
    return words[0] if words else ""


def words_of(text: str) -> list[str]:
    """Return the words of a text or a name, in small letters, and the signs that stand for some."""
    plain = _CAMEL.sub(" ", _APOSTROPHE.sub("", text))
    return _TOKEN.findall(plain.lower())


def _good(word: str, verb: str) -> bool:
    return word in GRANTED or word in _DONE or is_of(word, verb)


def is_of(word: str, verb: str) -> bool:
    """Return whether a word says that what a tool is there for was done: `closed` of `close`."""
    stem = verb[:-1] if verb[-1:] in ("e", "y") else verb
    return (
        len(stem) > 2
        and word.startswith(stem)
        and word.endswith(("ed", "drawn"))
        and len(word) <= len(stem) + len("lled")
        and word not in WORDS
    )


def _of_document(start: str) -> Says:
    """Return whether a text of some sentences may be about what was asked for, and not grant it."""
    words = frozenset(words_of(start))
    asked = len(start) < _MOST and words & (ASKED | GRANTED)
    return Says.EITHER if asked and words & (_DENYING | WORDS.keys()) else Says.NOTHING


def _document(start: str) -> bool:
    if len(start) <= _REMARK:
        return False
    return len(start) > _LONG_REMARK or len(_SENTENCE_END.findall(start)) >= _SENTENCES
