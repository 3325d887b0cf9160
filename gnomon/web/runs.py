"""Runs: which runs?"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from markupsafe import Markup

from collector.views import Facet, FacetCount, RunBucket, RunFilter, RunPosition
from gnomon.clock import Nanos
from gnomon.errors import InputError
from gnomon.model import Run, RunState, RunStatus
from gnomon.web import charts, svg
from gnomon.web.filters import ALL, JUDGED, Chip, Query, packed
from gnomon.web.formats import NO_DATA, cost, count, duration, plural, short_count
from gnomon.web.judgments import broken_rules, verdict_of
from gnomon.web.port import Judging, PageReader
from gnomon.web.timeline import PERIODS, Timeline, back_from
from gnomon.web.titles import Title, address_of, position_of, title_of
from scoring.metrics.scope import Scope
from scoring.reading import RunJudgments

PAGE = 50
_AT_ONCE = 3
"""Questions at once beside the list: ClickHouse works on them while Python waits."""
_FACETS: Sequence[tuple[Facet, str]] = (
    ("agent", "agent"),
    ("version", "version"),
    ("error_type", "error"),
    ("model", "model"),
    ("tool", "tool"),
    ("environment", "environment"),
)


_BEGINNING = RunPosition(Nanos(-1), "")
"""Before every run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of the list."""

    href: str
    title: Title
    verdict: str
    """pass, fail or unknown; waiting before any grader looked; '' without graders."""
    broken: Sequence[str]
    """Rules that were broken."""
    status: RunStatus
    open: bool
    started_at: Nanos
    agent: str
    version: str
    duration: str
    steps: str
    tokens: str
    cost: str
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One filter with its values; counts leave out the filter's own condition."""

    name: str
    chosen: str
    values: Sequence[FacetCount]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many runs of one status, and the list with just those."""

    status: str
    runs: int | None
    """None: not counted."""
    href: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsView:
    """The page."""

    query: Query
    lines: Sequence[Line]
    total: int
    future: Tally | None
    """Runs dated after the present, which the strip does not show."""
    tallies: Sequence[Tally]
    verdicts: Sequence[Tally]
    """Those of the graders; none without them."""
    everything: str
    """The list without the condition on the status."""
    choices: Sequence[Choice]
    chips: Sequence[Chip]
    strip: Markup
    scale: Sequence[str]
    caption: str
    drag: tuple[int, int, str]
    """Start and width of the strip's points in milliseconds, and the address a drag completes."""
    periods: Sequence[tuple[str, str]]
    wider: str
    """The same conditions over all time; '' when it is all time already."""
    newer: str
    older: str
    news: str
    """What to poll for runs that came since."""
    hidden: Sequence[tuple[str, str]]
    """Conditions that have no field of their own in the form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsView:
    """How many runs came since the list was drawn."""

    runs: int
    href: str
    noun: str = "run"
    most: int = 100
    """So many are counted at most; 0: all are."""


def runs(
    reader: PageReader,
    query: Query,
    now: Nanos,
    *,
    after: RunPosition | None,
    before: RunPosition | None,
    order: Sequence[str] = (),
    judging: Judging | None = None,
) -> RunsView:
    """Return one page of the list with its strip and its filters."""
    where = reader.narrowed(judged_where(query, now, judging))
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="runs") as pool:
        asked_strip = pool.submit(_strip, reader, query, where, now)
        asked_facets = pool.submit(reader.facets, where, limit=40)
        asked_verdicts = pool.submit(_verdicts, reader, query, now, judging)
        if where.until is None:  # else what a fast clock dated ahead would stay on top for ever
            known = PERIODS.get(query.period)
            until = back_from(now, known).until if known else asked_strip.result()[0].until
            listed = replace(where, until=until)
        else:
            listed = where
        found = list(
            reader.runs(listed, limit=PAGE + 1, after=before or after, newer=before is not None)
        )
        more = len(found) > PAGE
        if before is not None:
            found = found[1:] if more else found
        shown = found[:PAGE]
        judged = judging.judgments.of_runs(shown) if judging else {}
        time, counts = asked_strip.result()
        facets, verdicts = asked_facets.result(), asked_verdicts.result()
    behind = more if before is None else True
    ahead = after is not None if before is None else more
    points = time.fill(counts)
    names = [time.name(start) for start in time.starts]
    total = sum(one.runs for one in counts)
    return RunsView(
        query=query,
        lines=[_line(run, query, order, judged.get(run.run_id)) for run in shown],
        total=total,
        future=_future(query, counts, time),
        tallies=_tallies(query, facets),
        verdicts=verdicts,
        everything=query.having(status=None).url(),
        choices=_choices(query, facets),
        chips=query.chips(),
        strip=svg.strip(
            charts.layers(points),
            title=f"{plural(total, 'run')} over time",
            readings=charts.readings(names, points),
            links=[query.within(start, start + time.width).url() for start in time.starts],
        ),
        scale=[time.name(start) for start in (time.starts[0], time.starts[-1])],
        caption=f"per {time.each}, at most {count(max([0, *(p.runs for p in points if p)]))}",
        drag=(
            time.since // 1_000_000,
            time.width // 1_000_000,
            query.lasting(ALL).url(),
        ),
        periods=[(name, query.lasting(name).url()) for name in (*PERIODS, ALL)],
        wider="" if query.period == ALL else query.lasting(ALL).url(),
        newer=query.url(before=packed(position_of(shown[0]))) if shown and ahead else "",
        older=query.url(after=packed(position_of(shown[-1]))) if shown and behind else "",
        news="" if ahead else _news_address(query, shown, now),
        hidden=_hidden(query),
    )


def _strip(
    reader: PageReader, query: Query, where: RunFilter, now: Nanos
) -> tuple[Timeline, Sequence[RunBucket]]:
    time = query.time(now, None if where.since else _oldest(reader, where))
    return time, reader.counts(where, width_ns=time.width)


def judged_where(query: Query, now: Nanos, judging: Judging | None) -> RunFilter:
    """Return the filter with what is asked of the graders; raises InputError where there are none."""
    where, which = query.where(now), query.which()
    if which is None:
        return where
    if judging is None:
        raise InputError(f"{', '.join(JUDGED)}: no grader judges here; drop the condition")
    scope = Scope(since=where.since, until=where.until, origin=where.origin)
    if which.common is not None:  # which tasks those are hangs on all that was asked
        slices = judging.metrics.units.slices.items()
        scope = replace(
            scope,
            agent=where.agent,
            environment=where.environment,
            slices={
                name: where.business_keys[key] for name, key in slices if key in where.business_keys
            },
        )
    return replace(where, among=judging.metrics.among(scope, which))


def news(
    reader: PageReader,
    query: Query,
    now: Nanos,
    since: RunPosition,
    judging: Judging | None = None,
) -> NewsView:
    """Return how many runs are newer than the first row shown that is not dated ahead."""
    where = judged_where(query, now, judging)
    until = Nanos(now + 1) if where.until is None else min(where.until, Nanos(now + 1))
    found = reader.positions(replace(where, until=until), limit=100, after=since, newer=True)
    return NewsView(runs=len(found), href=query.url())


def _line(run: Run, query: Query, order: Sequence[str], judged: RunJudgments | None) -> Line:
    tokens = None
    if run.input_tokens is not None or run.output_tokens is not None:
        tokens = (run.input_tokens or 0) + (run.output_tokens or 0)
    return Line(
        href=address_of(run.run_id, query),
        title=title_of(run, order),
        verdict="" if judged is None else verdict_of(judged),
        broken=() if judged is None else broken_rules(judged),
        status=run.status,
        open=run.state is RunState.OPEN,
        started_at=run.started_at,
        agent=run.agent_name or NO_DATA,
        version=run.agent_version or NO_DATA,
        duration=duration(run.duration_ns),
        steps=count(run.steps),
        tokens=short_count(tokens),
        cost=cost(run.cost_usd, run.unpriced_calls),
        run_id=run.run_id,
    )


def _tallies(query: Query, facets: Mapping[Facet, Sequence[FacetCount]]) -> Sequence[Tally]:
    known = {one.value: one.runs for one in facets.get("status", ())}
    chosen = query.values.get("status")
    return [
        Tally(
            status=status,
            runs=known.get(status, 0),
            href=query.having(status=status).url(),
            chosen=chosen == status,
        )
        for status in ("error", "unknown", "ok")
    ]


_PARTS = (("fail", "failed"), ("unknown", "unverified"), ("pass", "verified"))


def _verdicts(
    reader: PageReader, query: Query, now: Nanos, judging: Judging | None
) -> Sequence[Tally]:
    """Return how many runs have each verdict; counted where the graders know every condition."""
    if judging is None:
        return ()
    chosen = query.values.get("part")
    counts = _counted(reader, query, now, judging)
    return [
        Tally(
            status=name,
            runs=counts.get(part),
            href=query.having(part=None if chosen == part else part).url(),
            chosen=chosen == part,
        )
        for name, part in _PARTS
    ]


_SHARED = frozenset({"agent", "version", "environment", "origin", "part"})


_COUNTED = 20_000
"""So many runs are counted by verdict while somebody waits; of more the Overview knows."""


def _counted(reader: PageReader, query: Query, now: Nanos, judging: Judging) -> Mapping[str, int]:
    if not _SHARED.issuperset(query.values) or query.keys or query.text:
        return {}
    where = query.where(now)
    if reader.count(where) > _COUNTED:
        return {}
    scope = Scope(
        agent=where.agent,
        version=where.version,
        environment=where.environment,
        since=where.since,
        until=where.until,
        origin=where.origin,
    )
    (found,) = judging.metrics.pulse(scope)
    return {"failed": found.failed, "unverified": found.unknown, "verified": found.passed}


def _choices(query: Query, facets: Mapping[Facet, Sequence[FacetCount]]) -> Sequence[Choice]:
    found = []
    for facet, name in _FACETS:
        chosen = query.values.get(name, "")
        values = [one for one in facets.get(facet, ()) if one.value]
        if chosen and all(one.value != chosen for one in values):
            values.insert(0, FacetCount(value=chosen, runs=0))
        if len(values) > 1 or chosen:
            found.append(Choice(name=name, chosen=chosen, values=values))
    return found


def _hidden(query: Query) -> Sequence[tuple[str, str]]:
    """Return what a submit of the filter form must carry along."""
    found = [(f"key.{name}", value) for name, value in query.keys.items()]
    names = ("status", "state", "conversation", "origin", *JUDGED)
    found += [(name, query.values[name]) for name in names if name in query.values]
    pairs = [part.partition("=") for part in query.text_of_url().split("&")]
    found += [
        (name, value.replace("%3A", ":")) for name, _, value in pairs if name in ("since", "until")
    ]
    return found


def _oldest(reader: PageReader, where: RunFilter) -> Nanos | None:
    """Return when the first run of a list without a bound began."""
    first = reader.positions(where, limit=1, after=_BEGINNING, newer=True)
    return first[0].started_at if first else None


def _news_address(query: Query, shown: Sequence[Run], now: Nanos) -> str:
    """Return what to poll: newer than the first row, but for those a fast clock dated ahead."""
    past = (position_of(run) for run in shown if run.started_at <= now)
    return query.url("/news/runs", than=packed(next(past, RunPosition(now, "-"))))


def _future(query: Query, counts: Sequence[RunBucket], time: Timeline) -> Tally | None:
    ahead = [one for one in counts if one.start >= time.until]
    if not ahead:
        return None
    return Tally(
        status="future",
        runs=sum(one.runs for one in ahead),
        href=query.within(time.until, ahead[-1].start + time.width).url(),
        chosen=False,
    )
