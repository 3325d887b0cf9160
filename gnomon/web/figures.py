"""How a number is written: never without n, interval, unit, what is left out, open and guard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from gnomon.web.amounts import FEW, bounded, interval_words, shown_words, span_words, value_words
from gnomon.web.behind import address_of
from gnomon.web.formats import count, percent
from scoring.metrics.figures import LOWER_BOUND, NOT_ENOUGH, Figure, Guarded
from scoring.metrics.tooluse import STRUCK
from scoring.stats import rates
from scoring.stats.results import Metric, Rate, Shown

_QUIET = frozenset(
    {NOT_ENOUGH, STRUCK, LOWER_BOUND, "unverified", "hard", "soft", "undecided", "few_clusters"}
)
"""Flags that the words beside the number say already."""

_WRAPS = 40
"""Letters from which a part of the words may be broken over lines."""


@dataclass(frozen=True, slots=True)
class Written:
    """A number as two pieces of a tile: itself, and everything it may not be shown without."""

    number: Markup
    beside: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of a metric or surface, with its runs."""

    name: str
    number: Markup
    beside: Markup
    told: Markup
    """The same with n as a link to the runs it counts."""
    href: str
    """The runs that count; '' when no list can show them."""
    low: float | None
    value: float | None
    high: float | None


def share(
    part: int,
    whole: int,
    *,
    name: str,
    unit: str,
    excluded: Mapping[str, int],
    open_units: int,
    guard: Mapping[str, Shown],
) -> Metric:
    """Return a part of a whole with its guard; the interval comes from the statistics."""
    left = {reason: number for reason, number in excluded.items() if number}
    measure = rates.rate(part, whole, unit=unit, excluded=left, open=open_units)
    return Metric(name=name, measure=measure, guard=guard)


def written(metric: Metric, text: str = "") -> Written:
    """Return a metric in writing; raises TypeError for anything that is not a whole one.

    `text`: why there is no number.
    """
    if not isinstance(metric, Metric):
        raise TypeError(f"only a Metric can be shown as a share, not {type(metric).__name__}")
    shown = metric.measure
    _refuse_bare(shown)
    if not metric.guard:
        raise TypeError("a number without guard can not be shown")
    guards = [
        _guard(name, guard) for name, guard in metric.guard.items() if name not in shown.excluded
    ]
    left = {
        reason: f" ({value_words(metric.guard[reason].value or 0, 'rate')})"
        for reason in shown.excluded
        if reason in metric.guard and metric.guard[reason].value is not None
    }
    return _pieces(shown, text, [*guards], left, "")


def rate(metric: Metric) -> Markup:
    """Return a metric in one line, for tables and sentences."""
    pieces = written(metric)
    return Markup('{} <small class="muted">{}</small>').format(pieces.number, pieces.beside)


def metric_of(guarded: Guarded) -> Metric:
    """Return a metric of the reader as the macro takes it."""
    guard = {name: figure.shown for name, figure in guarded.guard.items()}
    return Metric(name=guarded.name, measure=guarded.measure.shown, guard=guard)


def numbers(guarded: Guarded) -> Sequence[Number]:
    """Return a metric as a row: its number, what stands beside, then its guards."""
    figures = {guarded.name: guarded.measure, **guarded.beside, **guarded.guard}
    return [number(name, figure) for name, figure in figures.items()]


def number(name: str, figure: Figure) -> Number:
    """Return one figure, to stand in a row or card with its fellows."""
    _refuse_bare(figure.shown)
    pieces = _pieces(figure.shown, figure.text, [], {}, "")
    behind = "" if figure.link is None else address_of(figure.link)
    link = figure.hits or figure.link
    shows = figure.shown.value is not None or bounded(figure.shown)
    known = figure.shown if shows else None
    return Number(
        name=name,
        number=pieces.number,
        beside=pieces.beside,
        told=_pieces(figure.shown, figure.text, [], {}, behind).beside,
        href=address_of(link) if link is not None and shows else "",
        low=known.low if known else None,
        value=known.value if known else None,
        high=known.high if known else None,
    )


def _refuse_bare(shown: Shown) -> None:
    for name in ("n", "unit", "excluded", "open", "method", "confidence"):
        if getattr(shown, name, None) in (None, ""):
            raise TypeError(f"a number without {name} can not be shown")
    limits = shown.low is not None and shown.high is not None
    if isinstance(shown, Rate) and shown.value is not None and not limits:
        raise TypeError("a share without interval can not be shown")


def _pieces(
    shown: Shown, text: str, more: Sequence[str], left: Mapping[str, str], behind: str
) -> Written:
    """Return a number in writing; `behind` is the address of the runs that n counts."""
    if shown.value is None and not bounded(shown):
        word = "not enough data" if NOT_ENOUGH in shown.flags else "no data"
        reason = text or f"no {shown.unit} yet"
        return Written(
            Markup('<span class="few">{}</span>').format(word), Markup("{}").format(reason)
        )
    few = shown.n < FEW and shown.scale != "count"
    if shown.value is None:
        said = span_words(shown.low or 0, shown.high or 0, shown.scale)
        parts: list[str | Markup] = ["worst to best case"]
    else:
        said = shown_words(shown)
        plain = shown.method in ("count", "maximum")
        parts = [] if plain and shown.low is None else [interval_words(shown)]
    unit = "" if shown.unit == "run" else f" {shown.unit}{'' if shown.n == 1 else 's'}"
    parts += [
        _counted(f"n = {count(shown.n)}{unit}", behind) + (", few" if few else ""),
        *(
            f"{count(n)} {_plain(why)}{left.get(why, '')} left out"
            for why, n in shown.excluded.items()
        ),
        *([f"{count(shown.open)} open"] if shown.open else []),
        *more,
        *(_plain(flag) for flag in shown.flags if flag not in _QUIET),
        *([text] if text and text not in shown.flags else []),
    ]
    look = "struck" if STRUCK in shown.flags else "few" if few else "many"
    return Written(
        Markup('<span class="{}">{}</span>').format(look, said),
        Markup(", ").join(
            Markup('<span class="nowrap">{}</span>').format(part) if _short(part) else part
            for part in parts
        ),
    )


def _short(part: str | Markup) -> bool:
    return len(part) < _WRAPS or isinstance(part, Markup)


def _counted(text: str, behind: str) -> Markup:
    if not behind:
        return Markup("{}").format(text)
    return Markup('<a class="plain" href="{}">{}</a>').format(behind, text)


def _plain(word: str) -> str:
    return word.replace("_", " ")


def _guard(name: str, guard: Shown) -> str:
    return f"{_plain(name)} {percent(guard.value) if guard.n else 'no data'}"
