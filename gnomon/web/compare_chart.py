"""The effect of a comparison: drawn, and said with no more than may be said."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from gnomon.web import forest
from gnomon.web.amounts import bounded, interval_words, points, span_words
from gnomon.web.forest import Effect
from gnomon.web.formats import count, plural
from scoring.stats.results import Difference
from scoring.versions.answers import EXPLORATORY, WITHHELD, Answer
from scoring.versions.live import SAME_TASKS
from scoring.versions.ruling import Ruling, day


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """An effect as a figure with its table."""

    title: str
    subtitle: str
    chart: Markup
    """Empty without anything to draw."""
    rows: Sequence[Sequence[str]]


def words(found: Difference) -> str:
    """Return a difference with its interval, or its bounds."""
    if found.value is not None:
        return f"{points(found.value)} points, {interval_words(found)}{_without(found)}"
    if bounded(found):
        ends = span_words(found.low or 0, found.high or 0, "difference")
        return f"{ends} between the worst and the best case of what is undecided"
    return f"no data{_without(found)}"


def _without(found: Difference) -> str:
    """Say why there is no interval, where a flag does."""
    if found.low is not None or found.high is not None:
        return ""
    return next((f": {why}" for flag, why in _NO_INTERVAL.items() if flag in found.flags), "")


_NO_INTERVAL = {
    "few_clusters": "too few clusters on a side to see how they vary",
    "no_spread": "all units are alike, so nothing tells how they vary",
}


def finding(answer: Answer, found: Difference, what: str) -> str:
    """Say what may be said: of a look what its interval shows, before it nothing but how far it is."""
    base, cand = answer.setting.base, answer.setting.cand
    if WITHHELD in found.flags:
        missing = answer.ruling.decision.missing
        more = f", {count(missing)} more before the planned look" if missing else f"; {_WAITS}"
        return f"{what}: {plural(found.n, found.unit)} so far{more}"
    if answer.guard.incomplete:
        return f"{what}: not enough data, {answer.guard.incomplete}"
    if SAME_TASKS in found.flags:
        return f"{what}: the same tasks again, compared task by task on the other side"
    if found.low is None and found.value is None:
        return f"{what}: nothing to compare yet"
    if EXPLORATORY in found.flags:
        return f"{what}: {cand} less {base} is {words(found)}; nobody planned to look now"
    sense = f"no difference between {base} and {cand} is shown"
    if found.low is not None and found.low > 0:
        sense = f"{cand} is better than {base}"
    elif found.high is not None and found.high < 0:
        sense = f"{cand} is worse than {base}"
    return f"{what}: {sense}, {words(found)}"


def note(answer: Answer, found: Difference) -> str:
    """Say which numbers these are."""
    if answer.ruling.looks:
        look = answer.ruling.looks[-1]
        return (
            f"Numbers of look {look.look} at the first {count(look.n)} {found.unit}s, taken on"
            f" {day(look.seen_at)} {_TAKEN[look.by]} and never again; {count(answer.ruling.n)} are there now."
        )
    if WITHHELD in found.flags:
        return (
            "Before the planned look there is no interval, no p value and no verdict: looking early"
            " makes chance look like an effect. Counts may be read."
        )
    if EXPLORATORY in found.flags and SAME_TASKS not in found.flags:
        why = _TOO_LATE if answer.ruling.late else answer.ruling.decision.reason
        return f"A reading aid, not a test: {why}, so there is no p value and no verdict."
    return ""


_TOO_LATE = "the rule came too late to decide these versions"
_WAITS = "the planned look has its units, and waits"
_TAKEN = {"job": "by the job when it was due", "request": "for whoever asked before the job had"}


def drawn(
    effects: Sequence[tuple[str, Difference, bool]], title: str, subtitle: str, margin: float | None
) -> Chart:
    """Return effects as a figure with its table."""
    rows = [
        Effect(
            name=name,
            value=one.value,
            low=one.low,
            high=one.high,
            reading=f"{name}\n{words(one)}\nn = {count(one.n)} {one.unit}s",
            strong=strong,
        )
        for name, one, strong in effects
    ]
    return Chart(
        title=title,
        subtitle=subtitle,
        chart=forest.forest(rows, title=subtitle, finding=title, margin=margin)
        if any(row.low is not None or row.value is not None for row in rows)
        else Markup(),
        rows=[
            (name, *_cells(one), f"{count(one.n)} {one.unit}s", one.method, left(one))
            for name, one, _ in effects
        ],
    )


def _cells(one: Difference) -> tuple[str, str, str]:
    value, low, high = (
        "–" if end is None else points(end) for end in (one.value, one.low, one.high)
    )
    return value, low, high


def left(one: Difference) -> str:
    """Return what a difference leaves out, in words."""
    parts = [f"{count(n)} ({why.replace('_', ' ')})" for why, n in one.excluded.items()]
    parts += [f"{count(one.open)} undecided"] if one.open else []
    return ", ".join(parts) or "nothing"


def margin(ruling: Ruling) -> float | None:
    """Return the loss that the rule allows, where it is about this comparison."""
    return ruling.plan.section.margin if ruling.plan is not None and ruling.governs else None
