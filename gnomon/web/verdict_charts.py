"""Pass rate and verdicts over time: charts of what the graders say."""

from collections.abc import Sequence

from gnomon.web import svg
from gnomon.web.amounts import FEW, interval_words
from gnomon.web.axes import Axis, axis
from gnomon.web.charts import stretch
from gnomon.web.formats import count, percent, plural, short_count
from gnomon.web.plots import Data, Figure, few, frame_of
from gnomon.web.svg import Series
from scoring.metrics.pulse import Beat, Pulse
from scoring.stats.results import Shown

Points = Sequence[Beat | None]
_ROOM = 0.4
"""A pass rate that never falls so far below 1 is drawn on a cut axis."""


def pass_figure(data: Data, points: Points, whole: Pulse) -> Figure:
    """Return the pass rate with its interval at every point; unknown verdicts are left out."""
    names = data.names()
    rates = [None if p is None else p.pass_rate.shown for p in points]
    scale = _scale(rates)
    title = _finding(data, rates, whole.pass_rate.measure.shown)
    frame = frame_of(
        data,
        title=f"Pass rate of decided runs, per {data.each}",
        finding=title,
        readings=[_reading(name, p) for name, p in zip(names, points, strict=True)],
        scale=scale,
        shape=percent,
        slots=False,
    )
    measure = whole.pass_rate.measure.shown
    cut = ", axis cut" if scale.cut else ""
    unit = "" if measure.unit == "run" else f" {measure.unit}s"
    seen = [(name, p) for name, p in zip(names, points, strict=True) if p is not None]
    return Figure(
        name="pass",
        title=title,
        subtitle=f"verified right of verified, per {data.each}, {_level(measure)} interval"
        f" ({measure.method}), n = {count(measure.n)}{unit},"
        f" {count(whole.unknown)} unknown left out{cut}",
        chart=svg.lines(
            frame,
            [
                Series(
                    name="pass rate",
                    look="ok",
                    values=[None if r is None else r.value for r in rates],
                    band=[_band(r) for r in rates],
                )
            ],
        ),
        heads=("Time (UTC)", "Pass rate", "Low", "High", "Passed", "n", "Unknown left out", "Open"),
        rows=[
            (
                name,
                *(percent(n) for n in _limits(p.pass_rate.shown)),
                *(count(n) for n in (p.passed, p.pass_rate.shown.n, p.unknown, p.running)),
            )
            for name, p in seen
        ],
        links=_links(data, points, part="decided"),
    )


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


def _scale(rates: Sequence[Shown | None]) -> Axis:
    """Return an axis that holds every value, and every interval of enough runs."""
    known = [rate for rate in rates if rate is not None and rate.value is not None]
    values = [rate.value or 0.0 for rate in known]
    values += [end or 0.0 for rate in known if rate.n >= FEW for end in (rate.low, rate.high)]
    lowest = min(values, default=0.0)
    return axis(values, zero=lowest < 1 - _ROOM, top=1.0)


def _band(rate: Shown | None) -> tuple[float, float] | None:
    if rate is None or rate.value is None or rate.low is None or rate.high is None:
        return None
    return rate.low, rate.high


def _limits(rate: Shown) -> tuple[float | None, float | None, float | None]:
    if rate.value is None:
        return None, None, None
    return rate.value, rate.low, rate.high


def _level(shown: Shown) -> str:
    return f"{shown.confidence * 100:.4g} %"


def _finding(data: Data, rates: Sequence[Shown | None], whole: Shown) -> str:
    """Say where the rate fell: its interval lies wholly below that of the whole time."""
    if whole.value is None:
        return "No run is verified yet"
    dips = [
        (rate.value, name)
        for name, rate in zip(data.names(), rates, strict=True)
        if rate is not None
        and rate.value is not None
        and (rate.high if rate.high is not None else 1.0) < (whole.low or 0.0)
    ]
    if dips:
        value, name = min(dips)
        return f"The pass rate fell to {percent(value)} {name}, against {percent(whole.value)}"
    return f"{percent(whole.value)} of the decided runs pass; no {stretch(data)} stands out"


def _reading(name: str, point: Beat | None) -> str:
    if point is None or point.pass_rate.shown.value is None:
        return f"{name}\nno decided runs"
    shown = point.pass_rate.shown
    return (
        f"{name}\npass rate {percent(shown.value)}, {interval_words(shown)}"
        f"\nn = {count(shown.n)}{few(shown.n)}, {count(point.unknown)} unknown"
    )
