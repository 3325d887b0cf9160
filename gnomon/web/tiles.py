"""Key numbers: each with everything it may not be shown without, its course, and its runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from collector.views import RunBucket
from gnomon.web import figures, svg
from gnomon.web.formats import NO_DATA, cost, count, duration, percent, plural, short_count
from gnomon.web.plots import Data
from gnomon.web.timeline import Period
from scoring.stats.results import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One key number with everything it may not be shown without."""

    label: str
    number: Markup | str
    beside: Markup | str
    before: str
    """The same number in the period before."""
    spark: Markup
    href: str


def tile(
    data: Data,
    period: Period,
    label: str,
    *,
    number: Markup | str,
    beside: Markup | str,
    was: str,
    course: Sequence[float | None],
    href: str,
) -> Tile:
    """Return a tile; the last point of the course is left out while its time is not over."""
    points = list(course)
    if data.time.partial(data.now) and len(points) > 3:
        points.pop()  # it would look like a fall
    return Tile(
        label=label,
        number=number,
        beside=beside,
        before=f"{period.words} before: {was}",
        spark=svg.spark(points, title=f"{label} over the {period.words}"),
        href=href,
    )


def tiles(
    total: RunBucket, before: RunBucket, was: Metric, errors: Metric, data: Data, period: Period
) -> Sequence[Tile]:
    """Return what the collector knows of the runs: how many, how long, how dear."""
    href = data.query.url()

    def of(
        label: str,
        number: Markup | str,
        beside: Markup | str,
        earlier: str,
        values: Callable[[RunBucket], float | None],
        *,
        link: str = href,
        empty: float | None = None,
    ) -> Tile:
        return tile(
            data,
            period,
            label,
            number=number,
            beside=beside,
            was=earlier,
            course=[empty if point is None else values(point) for point in data.points],
            href=link,
        )

    failed = figures.written(errors)
    return [
        of(
            "Runs",
            count(total.runs),
            f"{count(total.open)} still open" if total.open else "all settled",
            count(before.runs),
            lambda point: point.runs,
            empty=0,
        ),
        of(
            "Ended in error",
            failed.number,
            failed.beside,
            share_before(was),
            lambda point: point.errors / max(1, point.runs - point.unknown),
            link=data.query.having(status="error").url(),
        ),
        of(
            "Median duration",
            duration(total.p50_ns),
            "p50 of settled runs",
            duration(before.p50_ns),
            lambda point: point.p50_ns,
        ),
        of(
            "Slowest 5 %",
            duration(total.p95_ns),
            "p95 of settled runs",
            duration(before.p95_ns),
            lambda point: point.p95_ns,
        ),
        of(
            "Cost",
            cost(total.cost_usd, total.unpriced_calls),
            f"{each(total)} a run{among(total.costed, total)}" + _unpriced(total),
            cost(before.cost_usd, before.unpriced_calls),
            lambda point: point.cost_usd,
        ),
        of(
            "Tokens",
            short_count(tokens_of(total)),
            f"{short_count(total.input_tokens)} in, {short_count(total.output_tokens)} out",
            short_count(tokens_of(before)),
            tokens_of,
        ),
    ]


def share_before(was: Metric) -> str:
    """Return a share of the period before, with its n."""
    shown = was.measure
    if shown.value is None:
        return NO_DATA
    return f"{percent(shown.value)}, n = {count(shown.n)}"


def tokens_of(bucket: RunBucket) -> int | None:
    """Return all tokens, or None when nobody reported any."""
    if bucket.input_tokens is None and bucket.output_tokens is None:
        return None
    return (bucket.input_tokens or 0) + (bucket.output_tokens or 0)


def each(bucket: RunBucket) -> str:
    """Return the cost on average of a run whose cost is known."""
    if bucket.cost_usd is None or not bucket.costed:
        return NO_DATA
    return cost(bucket.cost_usd / bucket.costed, bucket.unpriced_calls)


def tokens_each(bucket: RunBucket) -> str:
    """Return the tokens on average of a run that reported them."""
    tokens = tokens_of(bucket)
    if tokens is None or not bucket.tokened:
        return NO_DATA
    return count(round(tokens / bucket.tokened))


def among(known: int, bucket: RunBucket) -> str:
    """Return how many runs an average is of, where that is not all and not none."""
    return f" (n = {count(known)})" if 0 < known < bucket.runs else ""


def _unpriced(bucket: RunBucket) -> str:
    calls = bucket.unpriced_calls
    return f" · {plural(calls, 'call')} without a price" if calls else ""
