"""What the fields of an answer are, by their names in whatever spelling."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from scoring.policies.remarks import (
    GRANTED,
    WITHDRAWN,
    WORDS,
    Says,
    of_name,
    squeeze,
    word_set,
    words_of,
)


class Part(Enum):
    """What a field of an answer is, by its name."""

    STATE = auto()
    """A status or a decision: in it only words of the table are good news."""
    GRANT = auto()
    """`approved`, `ok`: a truth value."""
    REFUSAL = auto()
    """`rejected`, `pending`: the contrary."""
    ERROR = auto()
    ERRORS = auto()
    """Some of what was asked for may have failed."""
    CODE = auto()
    """An HTTP status."""
    WRAPPER = auto()
    """In it stands the answer itself, whatever it is."""
    GATE = auto()
    """In it stands what was asked for, `approval` say; a text is read as a status."""
    GATED = auto()
    """The same, if it is an object or a list: `request` may be an echo of what was asked."""
    REMARK = auto()
    """Words beside an answer."""
    OTHER = auto()


def one_of(word: str) -> str:
    """Return a noun that stands for several as one: `approvals`, but `status`."""
    return word if word.endswith("ss") or word == "status" else word.removesuffix("s")


_STATES = word_set("status state decision outcome verdict resolution conclusion")
_SURE = GRANTED | word_set("ok success succeeded accepted")
_GRANTS = _SURE | word_set("successful valid validated confirmed passed")
_SAYING = frozenset(map(one_of, ("is", "was", "has", "been")))
"""They begin the name of a truth value, and are not what it is about."""
_WHEN = word_set("at by on")
"""After a word they tell when, or by whom: `revoked_at`."""
_ERRORS = word_set("error iserror errormessage errortype errordetail errordetails")
_CODES = word_set("statuscode httpstatus httpstatuscode httpcode responsecode")
_WRAPPERS = word_set(
    "result results toolresult response functionresponse output outputs data content contents text"
    " structuredcontent body payload attributes answer reply return json"
)
_REMARKS = word_set("message msg detail")
_GATES = word_set(
    "approval authorization authorisation verification validation consent clearance signoff"
)
_GATED = _GATES | word_set(
    "approve authorize authorise verify validate confirm confirmation request review check"
    " escalation"
)


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a field."""

    part: Part
    whole: str
    """In small letters and digits only."""
    subject: Sequence[str]
    """What it is about: `order` of `order_status`."""
    gated: bool
    """Whether it is about what is asked for, or about nothing else than the call."""
    sure: bool
    """Whether false means that it was not done, and is no trait of what was looked up."""
    grants: bool
    """Whether true says yes to what was asked for."""
    withdraws: str
    """The word by which it takes a yes back: `revoked` of `revoked_at`."""
    true: Says
    """What it says of the call if it is a statement and holds."""


@lru_cache(maxsize=4096)
def name_of(name: str) -> Name:
    """Return what a field is by its name, in whatever spelling."""
    words = words_of(name[:200])
    whole = squeeze(name[:200])
    *subject, last = map(one_of, words or [""])
    true = of_name(words) if subject else Says.NOTHING
    parts = (
        (Part.ERRORS, whole == "errors"),
        (Part.ERROR, whole in _ERRORS),
        (Part.CODE, whole in _CODES),
        (Part.REMARK, whole in _REMARKS),
        (Part.REFUSAL, whole in WORDS and whole not in _GRANTS and whole != "open"),
        (Part.STATE, last in _STATES),
        (Part.GRANT, last in _GRANTS and true is Says.NOTHING),
        (Part.WRAPPER, whole in _WRAPPERS),
        (Part.GATE, last in _GATES),
        (Part.GATED, last in _GATED or not _GATED.isdisjoint(subject)),
    )
    part = next((part for part, is_ in parts if is_), Part.OTHER)
    gated = _SAYING.issuperset(subject) or not _GATED.isdisjoint(subject)
    return Name(
        part=part,
        whole=whole,
        subject=subject,
        gated=gated,
        sure=gated and last in _SURE,
        grants=gated and last in GRANTED,
        withdraws=_withdraws(words),
        true=Says.NOTHING if part in (Part.ERROR, Part.REFUSAL) else true,
    )


def _withdraws(words: Sequence[str]) -> str:
    *subject, last = words[:-1] if len(words) > 1 and words[-1] in _WHEN else words or [""]
    about = set(map(one_of, subject))
    own = about <= _SAYING or not about.isdisjoint(_GATED)
    return last if last in WITHDRAWN and own else ""
