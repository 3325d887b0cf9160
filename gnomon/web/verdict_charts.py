"""Pass rate and verdicts over time: charts of what the graders say."""

from collections.abc import Sequence

from gnomon.web import svg
from gnomon.web.amounts import FEW, bounded, span_words
from gnomon.web.axes import Axis, axis
from gnomon.web.charts import stretch
from gnomon.web.formats import count, percent, plural, short_count
from gnomon.web.plots import Data, Figure, few, frame_of
from gnomon.web.svg import Series
from scoring.metrics.figures import NOT_ENOUGH
from scoring.metrics.pulse import Beat, Pulse
from scoring.stats.results import Shown
from scoring.stats.standing import LEAST, surely_below

Points = Sequence[Beat | None]
_ROOM = 0.4
"""A pass rate that never falls so far below 1 is drawn on a cut axis."""


def pass_figure(data: Data, points: Points, whole: Pulse) -> Figure:
    """Return the pass rate at every point: the least and, where verdicts are open, the most."""
    names = data.names()
    points = (
        points if NOT_ENOUGH not in whole.pass_rate.measure.shown.flags else [None] * len(names)
    )
    scale = _scale(points)
    title = _finding(data, points, whole.pass_rate.measure.shown)
    frame = frame_of(
        data,
        title=f"Pass rate of settled runs, per {data.each}",
        finding=title,
        readings=[_reading(name, p) for name, p in zip(names, points, strict=True)],
        scale=scale,
        shape=percent,
        slots=False,
    )
    measure = whole.pass_rate.measure.shown
    method = next((p.least.shown.method for p in points if p is not None), measure.method)
    cut = ", axis cut" if scale.cut else ""
    unit = "" if measure.unit == "run" else f" {measure.unit}s"
    open_ = (
        f", {count(whole.unknown)} unknown counted as wrong, then as right" if whole.unknown else ""
    )
    seen = [(name, p) for name, p in zip(names, points, strict=True) if p is not None]
    return Figure(
        name="pass",
        title=title,
        subtitle=f"verified right of settled runs, per {data.each}, {_level(measure)} interval"
        f" ({method}), n = {count(measure.n)}{unit}{open_}{cut}",
        chart=svg.lines(frame, _layers(points, whole.unknown > 0)),
        heads=("Time (UTC)", "At least", "At most", "Low", "High", "Passed", "Failed", "n", "Unknown", "Open"),
        rows=[
            (
                name,
                *(percent(n) for n in (p.least.shown.value, p.most.shown.value, *(_band(p) or (None, None)))),
                *(count(n) for n in (p.passed, p.failed, p.pass_rate.shown.n, p.unknown, p.running)),
            )
            for name, p in seen
        ],
        links=_links(data, points, part="scoped"),
    )  # fmt: skip


def _layers(points: Points, open_: bool) -> Sequence[Series]:
    least = [None if p is None else p.least.shown.value for p in points]
    most = [None if p is None else p.most.shown.value for p in points]
    bands = [None if p is None else _band(p) for p in points]
    if not open_:
        return [Series(name="pass rate", look="ok", values=least, band=bands)]
    return [
        Series(name="at least", look="ok", values=least, band=bands),
        Series(name="at most", look="unknown", values=most),
    ]


def verdict_figure(data: Data, points: Points, whole: Pulse, words: str) -> Figure:
    """Return settled runs by verdict: fails on the baseline, unknown hatched, then passes."""
    names = data.names()
    counts = [0 if p is None else p.runs for p in points]
    title = (
        f"{count(whole.failed)} of {plural(whole.runs, 'settled run')} failed in {words},"
        f" {count(whole.unknown)} unknown"
    )
    frame = frame_of(
        data,
        title=f"Settled runs by verdict, per {data.each}",
        finding=title,
        readings=[
            f"{name}\nno settled runs"
            if p is None
            else f"{name}\n{plural(p.runs, 'run')}: {count(p.failed)} fail,"
            f" {count(p.unknown)} unknown, {count(p.passed)} pass"
            for name, p in zip(names, points, strict=True)
        ],
        scale=axis(counts, least=1),
        shape=lambda tick: short_count(round(tick)),
        slots=True,
    )
    layers = [
        Series(name="fail", look="error", values=[0 if p is None else p.failed for p in points]),
        Series(
            name="unknown", look="unknown", values=[0 if p is None else p.unknown for p in points]
        ),
        Series(name="pass", look="ok", values=[0 if p is None else p.passed for p in points]),
    ]
    return Figure(
        name="verdicts",
        title=title,
        subtitle=f"verdict of the outcome graders, per {data.each};"
        f" {plural(whole.running, 'open run')} left out",
        chart=svg.bars(frame, layers),
        heads=("Time (UTC)", "Settled", "Fail", "Unknown", "Pass", "Open"),
        rows=[
            (name, *(count(n) for n in (p.runs, p.failed, p.unknown, p.passed, p.running)))
            for name, p in zip(names, points, strict=True)
            if p is not None
        ],
        links=_links(data, points, part="scoped"),
    )


def _links(data: Data, points: Points, **more: str) -> Sequence[str]:
    query = data.query.having(**more)
    width = data.time.width
    return [
        query.within(start, start + width).url()
        for start, point in zip(data.time.starts, points, strict=True)
        if point is not None
    ]


def _scale(points: Points) -> Axis:
    """Return an axis that holds every value, and every interval of enough runs."""
    known = [point for point in points if point is not None and point.runs]
    values = [end or 0.0 for p in known for end in (p.least.shown.value, p.most.shown.value)]
    bands = [band for p in known if p.pass_rate.shown.n >= FEW and (band := _band(p))]
    values += [end for band in bands for end in band]
    lowest = min(values, default=0.0)
    return axis(values, zero=lowest < 1 - _ROOM, top=1.0)


def _band(point: Beat) -> tuple[float, float] | None:
    """Return the interval: from the low end of the least to the high end of the most."""
    low, high = point.least.shown.low, point.most.shown.high
    if point.least.shown.value is None or low is None or high is None:
        return None
    return low, high


def _level(shown: Shown) -> str:
    return f"{shown.confidence * 100:.4g} %"


def _finding(data: Data, points: Points, whole: Shown) -> str:
    """Say where the rate fell: its interval lies wholly below that of the whole time."""
    if NOT_ENOUGH in whole.flags:
        return "Not enough data: too many traces are incomplete"
    if whole.value is None and not bounded(whole):
        return "No run is verified yet"
    limit, looks = whole.low or 0.0, sum(point is not None for point in points)
    dips = [
        (point.most.shown.value or 0.0, name, point)
        for name, point in zip(data.names(), points, strict=True)
        if point is not None and _dip(point, limit, looks)
    ]
    said, least = percent(whole.value), percent(whole.value)
    if whole.value is None:
        said = span_words(whole.low or 0.0, whole.high or 0.0, "rate")
        least = f"at least {percent(whole.low)}"
    if dips:
        value, name, dip = min(dips, key=lambda one: one[:2])
        word = "at most " if dip.unknown else ""
        n = f"n = {count(dip.pass_rate.shown.n)}"
        return f"The pass rate fell to {word}{percent(value)} {name} ({n}), against {least}"
    passing = "of the settled runs pass"
    if whole.unit != "run":
        passing = f"is the pass rate over {count(whole.n)} {whole.unit}s"
    return f"{said} {passing}; no {stretch(data)} stands out"


def _dip(point: Beat, limit: float, looks: int) -> bool:
    """Tell a fall from chance; of few units the open ones count as right, and each run as one."""
    band = _band(point)
    if band is None:
        return False
    shown = point.pass_rate.shown
    if shown.n >= LEAST:
        return band[1] < limit
    right = point.passed + point.unknown
    alone = shown.unit == "run"
    return alone and surely_below(right, right + point.failed, limit, looks=looks)


def _reading(name: str, point: Beat | None) -> str:
    if point is None or not point.runs:
        return f"{name}\nno settled runs"
    shown, least = point.pass_rate.shown, point.least.shown
    said = percent(least.value)
    if point.unknown:
        said = f"at least {said}, at most {percent(point.most.shown.value)}"
    low, high = _band(point) or (0.0, 1.0)
    return (
        f"{name}\npass rate {said}, {_level(least)} CI {span_words(low, high, 'rate')}"
        f"\nn = {count(shown.n)}{few(shown.n)}, {count(point.unknown)} unknown"
    )
