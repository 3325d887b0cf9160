"""What scoring is doing: jobs with what is due, graders with what they made of the runs."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from gnomon.clock import Nanos, to_nanos
from gnomon.http import moment_of
from gnomon.web.cache import Rested
from gnomon.web.filters import ALL, Query
from gnomon.web.known import none_of
from gnomon.web.port import Judging
from scoring.backfill import Progress, Which
from scoring.grading.port import State
from scoring.jobs import JobState
from scoring.metrics.scope import Scope
from scoring.metrics.surfaces import GraderCount

DAYS = 7
"""Graders are counted over the runs that started in so many days."""
_HOUR = 3_600_000_000_000
STATES = (State.GRADED, State.ABSTAINED, State.FAILED, State.NOT_APPLICABLE)
SPANS: Mapping[str, str] = {"7d": "7 days", "30d": "30 days", "90d": "90 days", ALL: "all time"}
"""How far back a form may ask for history to be judged."""
KINDS: Mapping[str, str] = {
    "missing": "runs it has not judged",
    "failed": "those, and runs on which it failed",
    "all": "every run, again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """One job."""

    state: JobState
    finished_at: Nanos | None
    until: Nanos | None
    """End of the last finished window."""
    working: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A number of runs and the list of exactly those."""

    runs: int
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderLine:
    """One grader, by its newest version on each run."""

    name: str
    version: str
    surface: str
    kind: str
    configured: bool
    counts: Sequence[Counted]
    """In the order of STATES."""
    broken: Counted
    backfill: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Jobs and graders."""

    jobs: Sequence[JobLine]
    graders: Sequence[GraderLine]
    runs: Counted
    """Settled runs of the time in which graders are counted."""
    waiting: Counted
    """Of those, the ones that no verdict was made of yet."""
    spans: Mapping[str, str]
    """How far back history can be judged, by the value a form sends."""
    kinds: Mapping[str, str]
    """Which runs of it."""

    @property
    def names(self) -> Sequence[str]:
        """Graders that can judge history."""
        return [line.name for line in self.graders if line.configured]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """What graders made of the runs since a moment."""

    parts: Mapping[str, int]
    graders: Sequence[GraderCount]


class Standing:
    """How jobs and graders stand. A week is counted when it has changed and the last count rested."""

    def __init__(self, judging: Judging, clock: Callable[[], float] = time.monotonic) -> None:
        self._judging = judging
        self._made: Rested[_Made] = Rested(size=2, clock=clock)

    def at(self, now: Nanos) -> Work:
        """Return how they stand."""
        judging = self._judging
        since = Nanos(now // _HOUR * _HOUR - DAYS * 24 * _HOUR)
        query = Query(since=since, values={"origin": ALL})
        made = self._made.get(since, judging.metrics.data_version(), lambda: self._count(since))

        def part(name: str) -> Counted:
            return Counted(runs=made.parts[name], href=query.having(part=name).url())

        return Work(
            jobs=[
                _job(judging.jobs.state(job), working=judging.jobs.working(job.name))
                for job in judging.jobs.jobs
            ],
            graders=_graders(judging, made.graders, query),
            runs=part("scoped"),
            waiting=part("not_summed_up"),
            spans=SPANS,
            kinds=KINDS,
        )

    def _count(self, since: Nanos) -> _Made:
        scope = Scope(since=since, origin=None)
        metrics = self._judging.metrics
        (group,) = metrics.groups(scope, "", whole=False)
        return _Made(parts=group.sums.parts, graders=metrics.graders(scope))


def asked_backfill(fields: Mapping[str, str], now: Nanos) -> tuple[Nanos | None, Which]:
    """Return since when and which runs a form asks to be judged; raises InputError."""
    since, which = fields.get("since", ""), fields.get("which", "")
    if since not in SPANS:
        raise none_of("since", since, SPANS)
    for known in get_args(Which):
        if which == known:
            return None if since == ALL else moment_of(since, now), known
    raise none_of("which", which, KINDS)


def _graders(judging: Judging, counts: Sequence[GraderCount], query: Query) -> list[GraderLine]:
    """Return every grader that is set up, then those that judged and are set up no more."""
    progress = judging.backfills.progress()
    by_name: dict[str, list[GraderCount]] = {}
    for count in counts:
        by_name.setdefault(count.grader, []).append(count)
    lines = [
        _line(
            grader.name, grader.version, str(grader.surface), str(grader.kind),
            by_name.pop(grader.name, []), query, configured=True, backfill=progress.get(grader.name),
        )
        for grader in judging.judgments.graders
    ]  # fmt: skip
    return lines + [
        _line(
            name, ", ".join(found[0].versions), found[0].surface, found[0].kind, found, query,
            configured=False,
        )
        for name, found in by_name.items()
    ]  # fmt: skip


def _line(
    name: str, version: str, surface: str, kind: str, counts: Sequence[GraderCount], query: Query,
    *, configured: bool, backfill: Progress | None = None,
) -> GraderLine:  # fmt: skip
    mine = query.having(grader=name)
    return GraderLine(
        name=name,
        version=version,
        surface=surface,
        kind=kind,
        configured=configured,
        counts=[
            Counted(
                runs=sum(getattr(count, state) for count in counts),
                href=mine.having(verdict=str(state)).url(),
            )
            for state in STATES
        ],
        broken=Counted(
            runs=sum(count.broken for count in counts), href=query.having(rule=name).url()
        ),
        backfill=backfill,
    )


def _job(state: JobState, *, working: bool) -> JobLine:
    last = state.last
    return JobLine(
        state=state,
        finished_at=None if last is None else to_nanos(last.finished_at),
        until=None if last is None else to_nanos(last.window.end),
        working=working,
    )
