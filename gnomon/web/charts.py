"""How many runs, how they ended, how long they took: charts over time."""

from collections.abc import Callable, Sequence

from collector.views import RunBucket
from gnomon.web import svg
from gnomon.web.amounts import FEW
from gnomon.web.axes import axis, log_time_axis, time_axis
from gnomon.web.formats import count, duration, percent, plural, short_count
from gnomon.web.plots import Data, Figure, few, frame_of, links_of
from gnomon.web.svg import Series
from scoring.stats.rates import wilson
from scoring.stats.results import Estimate, Metric
from scoring.stats.standing import LEAST, surely_above

_LOG_FROM = 40
"""Durations that differ by more are drawn on a logarithmic axis."""


def layers(points: Sequence[RunBucket | None]) -> Sequence[Series]:
    """Return the runs by status, errors on the baseline so that they can be compared."""

    def read(value: Callable[[RunBucket], int]) -> Sequence[float | None]:
        return [0 if point is None else value(point) for point in points]

    return [
        Series(name="error", look="error", values=read(lambda p: p.errors)),
        Series(name="unknown", look="unknown", values=read(lambda p: p.unknown)),
        Series(name="ok", look="ok", values=read(lambda p: p.runs - p.errors - p.unknown)),
    ]


def readings(names: Sequence[str], points: Sequence[RunBucket | None]) -> Sequence[str]:
    """Return what a reader of the strip or the runs chart is told at each point."""
    return [
        f"{name}\nno runs"
        if point is None
        else f"{name}\n{plural(point.runs, 'run')}: {count(point.errors)} error, "
        f"{count(point.unknown)} unknown, {count(point.runs - point.errors - point.unknown)} ok"
        for name, point in zip(names, points, strict=True)
    ]


def runs_figure(data: Data, total: RunBucket, words: str) -> Figure:
    """Return runs over time by how they ended."""
    counts = [0 if point is None else point.runs for point in data.points]
    names = data.names()
    title = f"{plural(total.runs, 'run')} in {words}, {count(total.errors)} ended in error"
    frame = frame_of(
        data,
        title=f"Runs by status, per {data.each}",
        finding=title,
        readings=readings(names, data.points),
        scale=axis(counts, least=1),
        shape=lambda tick: short_count(round(tick)),
        slots=True,
    )
    return Figure(
        name="runs",
        title=title,
        subtitle=f"runs by status, per {data.each}",
        chart=svg.bars(frame, layers(data.points)),
        heads=("Time (UTC)", "Runs", "Error", "Unknown", "Ok", "Still open"),
        rows=[
            (name, *(count(n) for n in (p.runs, p.errors, p.unknown, _ok(p), p.open)))
            for name, p in zip(names, data.points, strict=True)
            if p is not None
        ],
        links=links_of(data),
    )


def errors_figure(data: Data, total: RunBucket, errors: Metric) -> Figure:
    """Return the share of runs that ended in error, with its interval at every point."""
    names = data.names()
    estimates = [_estimate(point) for point in data.points]
    shares = data.values(lambda p: p.errors / (p.runs - p.unknown) if p.runs > p.unknown else None)
    sure = [p is not None and p.runs - p.unknown >= FEW for p in data.points]
    highest = [
        e.high
        for e, many in zip(estimates, sure, strict=True)
        if e is not None and e.high is not None and many
    ]
    scale = axis([*(s for s in shares if s is not None), *highest], top=1.0)
    frame = frame_of(
        data,
        title=f"Share of runs that ended in error, per {data.each}",
        finding=_errors_finding(data, estimates, errors),
        readings=[
            _error_reading(name, point, estimate)
            for name, point, estimate in zip(names, data.points, estimates, strict=True)
        ],
        scale=scale,
        shape=percent,
        slots=False,
    )
    series = Series(
        name="error share",
        look="error",
        values=shares,
        band=[band_of(e) for e in estimates],
    )
    return Figure(
        name="errors",
        title=frame.finding,
        subtitle=f"error share per {data.each}, 95 % Wilson interval, n = {count(errors.measure.n)}",
        chart=svg.lines(frame, [series]),
        heads=("Time (UTC)", "Error share", "Low", "High", "Errors", "n", "Unknown left out"),
        rows=[
            (
                name,
                percent(share),
                percent(e.low if e else None),
                percent(e.high if e else None),
                count(p.errors),
                count(p.runs - p.unknown),
                count(p.unknown),
            )
            for name, share, e, p in zip(names, shares, estimates, data.points, strict=True)
            if p is not None
        ],
        links=links_of(data, status="error"),
    )


def duration_figure(data: Data, total: RunBucket) -> Figure:
    """Return the median and the 95th percentile of durations."""
    names = data.names()
    p50 = data.values(lambda p: None if p.p50_ns is None else p.p50_ns / 1e9)
    p95 = data.values(lambda p: None if p.p95_ns is None else p.p95_ns / 1e9)
    known = [value for value in (*p50, *p95) if value is not None]
    wide = len(known) > 1 and min(known) > 0 and max(known) / min(known) > _LOG_FROM
    scale = log_time_axis(known) if wide else time_axis(known)
    settled = total.runs - total.open
    frame = frame_of(
        data,
        title=f"Duration of settled runs, per {data.each}",
        finding=_duration_finding(total, settled),
        readings=[
            name
            + (
                "\nno settled runs"
                if p is None or p.p50_ns is None
                else f"\np50 {duration(p.p50_ns)}, p95 {duration(p.p95_ns)}"
                f"\nn = {count(p.runs - p.open)}{few(p.runs - p.open)}"
            )
            for name, p in zip(names, data.points, strict=True)
        ],
        scale=scale,
        shape=lambda seconds: duration(round(seconds * 1e9)).replace(".0 ", " "),
        slots=False,
    )
    return Figure(
        name="duration",
        title=frame.finding,
        subtitle=f"p50 and p95 per {data.each}, nearest rank, n = {count(settled)}"
        + (", log scale" if wide else ""),
        chart=svg.lines(
            frame,
            [
                Series(name="p50", look="s1", values=p50),
                Series(name="p95", look="s2", values=p95),
            ],
        ),
        heads=("Time (UTC)", "p50", "p95", "Settled runs"),
        rows=[
            (name, duration(p.p50_ns), duration(p.p95_ns), count(p.runs - p.open))
            for name, p in zip(names, data.points, strict=True)
            if p is not None
        ],
        links=links_of(data),
    )


def _duration_finding(total: RunBucket, settled: int) -> str:
    if total.p50_ns is None:
        return "No settled run yet"
    half = f"Half of the runs take {duration(total.p50_ns)}"
    if settled < LEAST:  # of so few, nobody knows what one in twenty takes
        return f"{half} or more (n = {count(settled)})"
    return f"{half}, one in twenty {duration(total.p95_ns)} or more"


def band_of(estimate: Estimate | None) -> tuple[float, float] | None:
    """Return the limits of an estimate, if it has both."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return None
    return estimate.low, estimate.high


def _errors_finding(data: Data, estimates: Sequence[Estimate | None], errors: Metric) -> str:
    """Say where the share stood out: its interval lies wholly above that of the whole time."""
    whole = errors.measure
    if whole.value is None:
        return "No finished run yet"
    limit, looks = whole.high or 0.0, sum(estimate is not None for estimate in estimates)
    peaks = [
        (estimate.value or 0.0, name, point.runs - point.unknown)
        for name, point, estimate in zip(data.names(), data.points, estimates, strict=True)
        if point is not None and estimate is not None and _peak(point, estimate, limit, looks)
    ]
    if peaks:
        value, name, n = max(peaks)
        return (
            f"Errors stood out {name}: {percent(value)} (n = {count(n)})"
            f" against {percent(whole.value)}"
        )
    return f"{percent(whole.value)} of the runs ended in error; no {stretch(data)} stands out"


def _peak(point: RunBucket, estimate: Estimate, limit: float, looks: int) -> bool:
    n = point.runs - point.unknown
    if n >= LEAST:
        return (estimate.low or 0.0) > limit
    return surely_above(point.errors, n, limit, looks=looks)


def stretch(data: Data) -> str:
    """Return what a point of the chart is called."""
    return f"stretch of {data.each}" if data.each[0].isdigit() else data.each


def _error_reading(name: str, point: RunBucket | None, estimate: Estimate | None) -> str:
    if point is None or estimate is None:
        return f"{name}\nno finished runs"
    n = point.runs - point.unknown
    return (
        f"{name}\nerror share {percent(estimate.value)}{between(estimate)}"
        f"\n{count(point.errors)} of n = {count(n)}{few(n)}, {count(point.unknown)} unknown"
    )


def between(estimate: Estimate) -> str:
    """Return the interval of a share for a reading."""
    low, high = percent(estimate.low).removesuffix(" %"), percent(estimate.high)
    return f", 95 % CI {low}–{high}"


def _estimate(point: RunBucket | None) -> Estimate | None:
    if point is None or point.runs == point.unknown:
        return None
    return wilson(point.errors, point.runs - point.unknown)


def _ok(point: RunBucket) -> int:
    return point.runs - point.errors - point.unknown
