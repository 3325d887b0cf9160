"""How a share is written: never without n, interval, unit, what is left out, open and guard."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from gnomon.model import Estimate, Guard, Rate
from gnomon.web.formats import count, percent
from gnomon.web.port import Interval

FEW = 30
"""Under so many units a share is greyed and says so."""


def share(
    part: int,
    whole: int,
    *,
    interval: Interval | None,
    unit: str,
    excluded: Mapping[str, int],
    open_units: int,
    guard: Guard,
) -> Rate:
    """Return a part of a whole as a Rate; its interval comes from the statistics, never from here."""
    estimate: Estimate | None = interval(part, whole) if interval and whole else None
    return Rate(
        value=part / whole if whole else None,
        low=estimate.low if estimate else None,
        high=estimate.high if estimate else None,
        n=whole,
        unit=unit,
        excluded={reason: number for reason, number in excluded.items() if number},
        open=open_units,
        method="wilson" if estimate else "count",
        guard=guard,
    )


def interval_words(rate: Rate) -> str:
    """Return the interval in words; says so when there is none."""
    if rate.low is None or rate.high is None:
        return "no interval"
    low, high = percent(rate.low).removesuffix(" %"), percent(rate.high)
    return f"{rate.confidence * 100:g} % CI {low}–{high}"


@dataclass(frozen=True, slots=True)
class Written:
    """A rate as two pieces of a tile: the number, and everything it may not be shown without."""

    number: Markup
    beside: Markup


def written(rate: Rate) -> Written:
    """Return a rate in writing; raises TypeError for anything that is not a whole Rate."""
    if not isinstance(rate, Rate):
        raise TypeError(f"only a Rate can be shown as a share, not {type(rate).__name__}")
    for name in ("n", "unit", "excluded", "open", "guard", "method"):
        if getattr(rate, name) in (None, ""):
            raise TypeError(f"a rate without {name} can not be shown")
    if rate.value is None:
        return Written(
            Markup('<span class="few">no data</span>'), Markup("no {} yet").format(rate.unit)
        )
    few = rate.n < FEW
    parts = [
        interval_words(rate),
        f"n = {count(rate.n)}" + (", few" if few else ""),
        *(_left_out(rate, reason) for reason in rate.excluded),
        *([f"{count(rate.open)} open"] if rate.open else []),
        *([] if rate.guard.name in rate.excluded else [_guard(rate.guard)]),
    ]
    return Written(
        Markup('<span class="{}">{}</span>').format("few" if few else "many", percent(rate.value)),
        Markup(", ").join(Markup('<span class="nowrap">{}</span>').format(p) for p in parts),
    )


def _left_out(rate: Rate, reason: str) -> str:
    share = f" ({percent(rate.guard.value)})" if reason == rate.guard.name else ""
    return f"{count(rate.excluded[reason])} {reason}{share} left out"


def _guard(guard: Guard) -> str:
    return f"{guard.name} {percent(guard.value) if guard.n else 'no data'}"


def rate(value: Rate) -> Markup:
    """Return a rate in one line, for tables and sentences."""
    pieces = written(value)
    return Markup('{} <small class="muted">{}</small>').format(pieces.number, pieces.beside)
