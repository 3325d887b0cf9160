"""Overview: is any agent getting worse now?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from collector.queue.port import Books, TouchedTraces
from collector.views import Deploy, FacetCount, RunBucket, RunFilter
from gnomon.clock import Nanos
from gnomon.model import Guard, Rate
from gnomon.web import charts, figures, svg, usage_charts
from gnomon.web.filters import DEFAULT_PERIOD, Query
from gnomon.web.formats import NO_DATA, count, duration, percent, plural, short_count, usd
from gnomon.web.freshness import HOUR, Account, Freshness, account, accounts, freshness
from gnomon.web.plots import Data, Figure
from gnomon.web.port import Interval, PageReader
from gnomon.web.timeline import PERIODS, SECOND, Period, back_from

_VERSIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One key number with everything it may not be shown without."""

    label: str
    number: Markup | str
    unit: str = ""
    beside: Markup | str
    before: str
    """The same number in the period before."""
    spark: Markup
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    """One agent version over the period."""

    version: str
    since: Nanos | None
    """First run of all, when it lies in the period."""
    runs: int
    errors: Rate
    p50_ns: int | None
    p95_ns: int | None
    cost: str
    tokens: str
    href: str
    errors_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Top:
    """The most frequent values of one facet."""

    title: str
    none: str
    rows: Sequence[tuple[str, int, str]]
    """Value, runs, address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """What the charts and tiles show; kept while the data do not change."""

    runs: int
    tiles: Sequence[Tile]
    figures: Sequence[Figure]
    versions: Sequence[VersionRow]
    tops: Sequence[Top]
    agents: Sequence[FacetCount]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewView:
    """The page."""

    period: Period
    periods: Sequence[tuple[Period, str]]
    agent: str
    board: Board
    empty: bool
    """Nothing was ever received."""
    freshness: Freshness
    books: Sequence[Account]
    book: Account
    poll: str
    csv: str
    """Query string of the tables."""
    addresses: Mapping[str, str]
    """Where `otlp_http` and `otlp_grpc` are received."""


def query_of(agent: str, period: str) -> Query:
    """Return the list of runs this page is about."""
    return Query(period=period, values={"agent": agent} if agent else {})


def chosen_period(reader: PageReader, now: Nanos, asked: str) -> Period:
    """Return the period asked for; without one the shortest that holds all runs, at most a week."""
    if asked in PERIODS:
        return PERIODS[asked]
    for name in ("1h", "24h", "3d"):
        before = Nanos(now - PERIODS[name].seconds * SECOND)
        since = Nanos(now - PERIODS["90d"].seconds * SECOND)
        if not reader.runs(RunFilter(since=since, until=before), limit=1):
            return PERIODS[name]
    return PERIODS[DEFAULT_PERIOD]


def board(
    reader: PageReader, *, agent: str, period: Period, now: Nanos, interval: Interval | None
) -> Board:
    """Ask for every number of the page."""
    query = query_of(agent, period.name)
    time = back_from(now, period)
    where = query.where(now)
    span = time.until - time.since
    earlier = RunFilter(since=Nanos(time.since - span), until=time.since, agent=agent or None)
    total, before = reader.totals(where), reader.totals(earlier)
    points = time.fill(reader.buckets(where, width_ns=time.width))
    deploys = reader.deploys(where)
    facets = reader.facets(where, limit=_VERSIONS)
    rate = error_rate(total, interval)
    plotted = Data(
        time=time, points=points, deploys=deploys, query=query, interval=interval, now=now
    )
    return Board(
        runs=total.runs,
        tiles=_tiles(total, before, error_rate(before, interval), rate, plotted, period),
        figures=[
            charts.runs_figure(plotted, total, period.words),
            charts.errors_figure(plotted, total, rate),
            charts.duration_figure(plotted, total),
            usage_charts.cost_figure(plotted, total, period.words),
            usage_charts.tokens_figure(plotted),
        ],
        versions=[
            _version(reader, query, one.value, now, deploys, interval)
            for one in facets.get("version", ())
        ],
        tops=[
            _top(query, "Errors", "No step failed in this time.", "error", facets["error_type"]),
            _top(query, "Models", "No model was named.", "model", facets["model"]),
        ],
        agents=facets.get("agent", ()),
    )


def _top(query: Query, title: str, none: str, name: str, counts: Sequence[FacetCount]) -> Top:
    return Top(
        title=title,
        none=none,
        rows=[(one.value, one.runs, query.having(**{name: one.value}).url()) for one in counts[:5]],
    )


def error_rate(bucket: RunBucket, interval: Interval | None) -> Rate:
    """Return the share of runs that ended in error, guarded by the share nobody knows about."""
    known = bucket.runs - bucket.unknown
    unknown = bucket.unknown / bucket.runs if bucket.runs else None
    return figures.share(
        bucket.errors,
        known,
        interval=interval,
        unit="run",
        excluded={"unknown": bucket.unknown},
        open_units=bucket.open,
        guard=Guard(name="unknown", value=unknown, n=bucket.runs),
    )


def _tiles(
    total: RunBucket,
    before: RunBucket,
    rate_before: Rate,
    rate: Rate,
    data: Data,
    period: Period,
) -> Sequence[Tile]:
    words = period.words
    href = data.query.url()

    def tile(
        label: str,
        number: Markup | str,
        beside: Markup | str,
        was: str,
        values: Callable[[RunBucket], float | None],
        *,
        link: str = href,
        empty: float | None = None,
    ) -> Tile:
        course = [empty if point is None else values(point) for point in data.points]
        if data.time.partial(data.now) and len(course) > 3:
            course.pop()  # its time is not over; it would look like a fall
        return Tile(
            label=label,
            number=number,
            beside=beside,
            before=f"{words} before: {was}",
            spark=svg.spark(course, title=f"{label} over the {period.words}"),
            href=link,
        )

    errors = figures.written(rate)
    was = percent(rate_before.value)
    if rate_before.value is not None:
        was = f"{was}, n = {count(rate_before.n)}"
    return [
        tile(
            "Runs",
            count(total.runs),
            f"{count(total.open)} still open" if total.open else "all settled",
            count(before.runs),
            lambda point: point.runs,
            empty=0,
        ),
        tile(
            "Ended in error",
            errors.number,
            errors.beside,
            was,
            lambda point: point.errors / max(1, point.runs - point.unknown),
            link=data.query.having(status="error").url(),
        ),
        tile(
            "Median duration",
            duration(total.p50_ns),
            "p50 of settled runs",
            duration(before.p50_ns),
            lambda point: point.p50_ns,
        ),
        tile(
            "Slowest twentieth",
            duration(total.p95_ns),
            "p95 of settled runs",
            duration(before.p95_ns),
            lambda point: point.p95_ns,
        ),
        tile(
            "Cost",
            usd(total.cost_usd),
            f"{_each(total.cost_usd, total.runs)} a run" + _unpriced(total),
            usd(before.cost_usd),
            lambda point: point.cost_usd,
        ),
        tile(
            "Tokens",
            short_count(tokens_of(total)),
            f"{short_count(total.input_tokens)} in, {short_count(total.output_tokens)} out",
            short_count(tokens_of(before)),
            tokens_of,
        ),
    ]


def tokens_of(bucket: RunBucket) -> int | None:
    """Return all tokens, or None when nobody reported any."""
    if bucket.input_tokens is None and bucket.output_tokens is None:
        return None
    return (bucket.input_tokens or 0) + (bucket.output_tokens or 0)


def _each(amount: float | None, runs: int) -> str:
    return NO_DATA if amount is None or not runs else usd(amount / runs)


def _unpriced(bucket: RunBucket) -> str:
    calls = bucket.unpriced_calls
    return f" · {plural(calls, 'call')} without a price" if calls else ""


def _version(
    reader: PageReader,
    query: Query,
    version: str,
    now: Nanos,
    deploys: Sequence[Deploy],
    interval: Interval | None,
) -> VersionRow:
    mine = query.having(version=version)
    total = reader.totals(mine.where(now))
    tokens = tokens_of(total)
    return VersionRow(
        version=version,
        since=next((one.at for one in deploys if one.version == version), None),
        runs=total.runs,
        errors=error_rate(total, interval),
        p50_ns=total.p50_ns,
        p95_ns=total.p95_ns,
        cost=_each(total.cost_usd, total.runs),
        tokens=NO_DATA if tokens is None or not total.runs else count(round(tokens / total.runs)),
        href=mine.url(),
        errors_href=mine.having(status="error").url(),
    )


def overview(
    kept: Callable[[Period], Board],
    *,
    period: Period,
    agent: str,
    books: Books,
    touched: TouchedTraces,
    now: Nanos,
    address: Callable[[str], str],
    addresses: Mapping[str, str],
) -> OverviewView:
    """Return the page; `kept` answers from the cache, `address` names the page of a period."""
    shown = kept(period)
    since = Nanos(now // HOUR * HOUR - 23 * HOUR)
    rows = books.ledger(since, Nanos(now + HOUR))
    return OverviewView(
        period=period,
        periods=[(one, address(name)) for name, one in PERIODS.items()],
        agent=agent,
        board=shown,
        empty=not shown.runs and not rows,
        freshness=freshness(books, touched, now),
        books=accounts(rows),
        book=account("all", rows),
        poll=address(period.name),
        csv=address(period.name).removeprefix("/"),
        addresses=addresses,
    )
