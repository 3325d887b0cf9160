"""What scoring is doing: jobs with what is due, graders with what they made of the runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.clock import Nanos, to_nanos
from gnomon.web.port import Judging
from scoring.backfill import Progress
from scoring.grading.port import State
from scoring.jobs import JobState
from scoring.reading import GraderOverview
from scoring.statements import ViolationFilter

DAYS = 7
"""Graders are counted over the runs that started in so many days."""
_DAY = 86_400_000_000_000
STATES = (State.GRADED, State.ABSTAINED, State.FAILED, State.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """One job."""

    state: JobState
    finished_at: Nanos | None
    until: Nanos | None
    """End of the last finished window."""
    working: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderLine:
    """One grader and version."""

    grader: GraderOverview
    counts: Sequence[int]
    """In the order of STATES."""
    backfill: Progress | None
    broken_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Jobs and graders."""

    jobs: Sequence[JobLine]
    graders: Sequence[GraderLine]


def work(judging: Judging, now: Nanos) -> Work:
    """Return how jobs and graders stand."""
    progress = judging.backfills.progress()
    where = ViolationFilter(since=Nanos(now - DAYS * _DAY), origin=None)
    return Work(
        jobs=[
            _job(judging.jobs.state(job), working=judging.jobs.working(job.name))
            for job in judging.jobs.jobs
        ],
        graders=[
            GraderLine(
                grader=one,
                counts=[one.counts.get(state, 0) for state in STATES],
                backfill=progress.get(one.name) if one.configured else None,
                broken_href=f"/policies?period={DAYS}d" if one.broken else "",
            )
            for one in judging.judgments.overview(where)
        ],
    )


def _job(state: JobState, *, working: bool) -> JobLine:
    last = state.last
    return JobLine(
        state=state,
        finished_at=None if last is None else to_nanos(last.finished_at),
        until=None if last is None else to_nanos(last.window.end),
        working=working,
    )
