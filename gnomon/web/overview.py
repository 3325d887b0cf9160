"""Overview: is any agent getting worse now?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from collector.queue.port import Books, TouchedTraces
from collector.views import Deploy, FacetCount, RunBucket, RunFilter, RunPosition
from gnomon.clock import Nanos
from gnomon.web import charts, figures, usage_charts
from gnomon.web.filters import DEFAULT_PERIOD, Query
from gnomon.web.freshness import HOUR, Account, Freshness, account, accounts, freshness
from gnomon.web.judged_board import JudgedBoard
from gnomon.web.known import none_of
from gnomon.web.plots import Data, Figure
from gnomon.web.port import PageReader
from gnomon.web.tiles import Tile, among, each, tiles, tokens_each
from gnomon.web.timeline import PERIODS, SECOND, Period, back_from
from scoring.metrics.pulse import Pulse
from scoring.stats import rates
from scoring.stats.results import Metric

_VERSIONS = 8

Judges = Callable[[Data, Period, str], JudgedBoard]
"""Says how good the runs of a period (and agent) were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    """One agent's version over the period."""

    agent: str
    version: str
    since: Nanos | None
    """First run of all, when it lies in the period."""
    runs: int
    errors: Metric
    pulse: Pulse | None
    """What the graders say."""
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
    judged: JudgedBoard | None
    """None without graders, or before any of them has said something."""
    compare: str
    """The address that compares two versions of an agent; '' where none has two."""


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
    configured: bool
    """Whether any policy or grader is."""


def query_of(agent: str, period: str) -> Query:
    """Return the list of runs this page is about."""
    return Query(period=period, values={"agent": agent} if agent else {})


def chosen_period(reader: PageReader, now: Nanos, asked: str) -> Period:
    """Return the period asked for; without one the shortest that holds all runs, at most a week."""
    if asked:
        if asked not in PERIODS:
            raise none_of("period", asked, PERIODS)
        return PERIODS[asked]
    since = Nanos(now - PERIODS["90d"].seconds * SECOND)
    oldest = reader.positions(
        RunFilter(since=since), limit=1, after=RunPosition(since, ""), newer=True
    )
    age = now - oldest[0].started_at if oldest else 0
    short = (PERIODS[name] for name in ("1h", "24h", "3d"))
    return next((one for one in short if age <= one.seconds * SECOND), PERIODS[DEFAULT_PERIOD])


def board(
    reader: PageReader,
    *,
    agent: str,
    period: Period,
    now: Nanos,
    judged_by: Judges | None = None,
) -> Board:
    """Ask for every number of the page."""
    query = query_of(agent, period.name)
    time = back_from(now, period)
    where = query.where(now)
    span = time.until - time.since
    earlier = RunFilter(since=Nanos(time.since - span), until=time.since, agent=agent or None)
    known, before = (
        reader.figures(where, width_ns=time.width, versions=_VERSIONS),
        reader.totals(earlier),
    )
    total = known.total
    if not before.runs:
        time = time.beginning(time.fill(known.points))
    points = time.fill(known.points)
    deploys = reader.deploys(where)
    facets = reader.facets(where, limit=_VERSIONS)
    rate = error_rate(total)
    plotted = Data(time=time, points=points, deploys=deploys, query=query, now=now)
    judged = None
    if judged_by is not None and total.runs:
        found = judged_by(plotted, period, agent)
        judged = found if found.judged else None
    return Board(
        runs=total.runs,
        tiles=tiles(total, before, error_rate(before), rate, plotted, period),
        figures=[
            *(judged.figures if judged else [charts.runs_figure(plotted, total, period.words)]),
            charts.errors_figure(plotted, total, rate),
            charts.duration_figure(plotted, total),
            usage_charts.cost_figure(plotted, total, period.words),
            usage_charts.tokens_figure(plotted),
        ],
        versions=[_version(query, one, deploys, judged) for one in known.versions],
        tops=[
            _top(query, "Errors", "No step failed in this time.", "error", facets["error_type"]),
            _top(query, "Models", "No model was named.", "model", facets["model"]),
        ],
        agents=facets.get("agent", ()),
        judged=judged,
        compare=_compare(known.versions) if judged else "",
    )


def _compare(versions: Sequence[RunBucket]) -> str:
    """Return the address that compares the newest versions of the busiest agent with several."""
    agents = [one.agent for one in versions]
    several = next((agent for agent in agents if agents.count(agent) > 1), "")
    return f"/compare?{urlencode({'agent': several})}" if several else ""


def _top(query: Query, title: str, none: str, name: str, counts: Sequence[FacetCount]) -> Top:
    return Top(
        title=title,
        none=none,
        rows=[(one.value, one.runs, query.having(**{name: one.value}).url()) for one in counts[:5]],
    )


def error_rate(bucket: RunBucket) -> Metric:
    """Return the share of runs that ended in error, guarded by the share nobody knows about."""
    return figures.share(
        bucket.errors,
        bucket.runs - bucket.unknown,
        name="errors",
        unit="run",
        excluded={"unknown": bucket.unknown},
        open_units=bucket.open,
        guard={"unknown": rates.rate(bucket.unknown, bucket.runs, unit="run")},
    )


def _version(
    query: Query, total: RunBucket, deploys: Sequence[Deploy], judged: JudgedBoard | None
) -> VersionRow:
    named = (total.agent, total.version)
    mine = query.having(agent=total.agent or None, version=total.version)
    return VersionRow(
        agent=total.agent,
        version=total.version,
        since=next((one.at for one in deploys if (one.agent, one.version) == named), None),
        runs=total.runs,
        errors=error_rate(total),
        pulse=judged.versions.get(named) if judged else None,
        p50_ns=total.p50_ns,
        p95_ns=total.p95_ns,
        cost=each(total) + among(total.costed, total),
        tokens=tokens_each(total) + among(total.tokened, total),
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
    configured: bool = True,
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
        configured=configured,
    )
