"""Scoring's API: what was judged and why, violations, graders, policies and jobs."""

import datetime as dt
from dataclasses import asdict, replace
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from fastapi.concurrency import run_in_threadpool

from collector.store import Reader
from gnomon.clock import Clock, Nanos, rfc3339, to_nanos
from gnomon.errors import NotFound
from gnomon.http import (
    PROBLEMS,
    Cursor,
    Json,
    Limit,
    Text,
    When,
    known_parameters,
    moment_of,
    pack,
    shown,
    unpack,
    window_of,
)
from gnomon.model import JsonValue, Origin
from scoring.backfill import Backfills, Progress, Which
from scoring.jobs import Jobs, JobState
from scoring.reading import GraderOverview, Judgments, position
from scoring.router_check import add_check
from scoring.statements import ViolationFilter, ViolationPosition
from scoring.watched import Watched


def build_router(
    judgments: Judgments,
    jobs: Jobs,
    backfills: Backfills,
    watched: Watched,
    reader: Reader,
    *,
    clock: Clock,
) -> APIRouter:
    """Build `/v1/…` of scoring. Include it before the collector's router."""
    router = APIRouter(prefix="/v1", responses=PROBLEMS, dependencies=[Depends(known_parameters)])
    _add_judgments(router, judgments, reader)
    _add_violations(router, judgments, clock)
    _add_graders(router, judgments, backfills, clock)
    _add_policies(router, judgments, watched, clock)
    add_check(router, reader, clock)
    _add_jobs(router, jobs)
    return router


def _add_judgments(router: APIRouter, judgments: Judgments, reader: Reader) -> None:
    @router.get("/runs/{run_id:id}/judgments", operation_id="get_judgments", tags=["judgments"])
    def get_judgments(run_id: str) -> Response:
        """Return the status of every grader on a run, its labels and violations.

        A grader that has not looked yet is `waiting`, and `why` says for what.
        """
        run = reader.run(run_id)
        if run is None:
            raise NotFound(f"there is no run {run_id}; a run appears a moment after its first span")
        found = judgments.of(run)
        return Json(
            {
                "run_id": run.run_id,
                "revision": run.revision,
                "state": run.state,
                "statuses": [shown(row) for row in found.statuses],
                "labels": [shown(row) for row in found.labels],
                "violations": [shown(row) for row in found.violations],
            }
        )


def _add_violations(router: APIRouter, judgments: Judgments, clock: Clock) -> None:
    def asked(
        since: When = None,
        until: When = None,
        policy: Text = None,
        rule: Text = None,
        severity: Annotated[str | None, Query(pattern="^(hard|soft)$")] = None,
        agent: Text = None,
        version: Text = None,
        environment: Text = None,
        run: Text = None,
        origin: Annotated[str, Query(pattern="^(production|shadow|replay|all)$")] = "production",
        versions: Annotated[
            str,
            Query(
                pattern="^(present|all)$",
                description="present: only of policies as they are set up now.",
            ),
        ] = "present",
    ) -> ViolationFilter:
        start, end = window_of(since, until, to_nanos(clock()))
        return ViolationFilter(
            since=start,
            until=end,
            policy=policy,
            rule=rule,
            severity=severity,
            agent=agent,
            version=version,
            environment=environment,
            run_id=run,
            origin=None if origin == "all" else Origin(origin),
            graders=judgments.present_versions() if versions == "present" else None,
        )

    @router.get("/violations", operation_id="list_violations", tags=["judgments"])
    def list_violations(
        where: Annotated[ViolationFilter, Depends(asked)], limit: Limit = 50, cursor: Cursor = None
    ) -> Response:
        """List violations by the start of their run, newest first, at the run's present revision."""
        after = None
        if cursor is not None:
            after = ViolationPosition(*unpack("violations", cursor, int, str, str, str, int, int))
        found = judgments.violations(where, limit=limit + 1, after=after)
        page = found[:limit]
        more = len(found) > limit
        return Json(
            {
                "items": [shown(row) for row in page],
                "next": pack("violations", *position(page[-1])) if more else None,
            }
        )

    @router.get("/violations/counts", operation_id="count_violations", tags=["judgments"])
    def count_violations(
        where: Annotated[ViolationFilter, Depends(asked)],
        hours: Annotated[int, Query(ge=1, le=24 * 31, description="Width of a bucket.")] = 24,
    ) -> Response:
        """Count violations and the runs that have them, by rule and time."""
        width = hours * 3_600 * 1_000_000_000
        found = judgments.violation_buckets(where, width_ns=width)
        return Json({"items": [shown(bucket) for bucket in found]})


def _add_graders(
    router: APIRouter, judgments: Judgments, backfills: Backfills, clock: Clock
) -> None:
    @router.get("/graders", operation_id="list_graders", tags=["graders"])
    def list_graders(since: When = "7d") -> Response:
        """List graders and policies with what became of the runs that started since then.

        Those that judged and are set up no more (older versions) come last.
        """
        where = ViolationFilter(since=_moment(since, to_nanos(clock())), origin=None)
        progress = backfills.progress()
        items = [
            {
                **_grader(one),
                "backfill": _progress(progress[one.name])
                if one.configured and one.name in progress
                else None,
            }
            for one in judgments.overview(where)
        ]
        return Json({"items": items})

    @router.post(
        "/graders/{name}/backfill",
        operation_id="backfill_grader",
        tags=["graders"],
        status_code=202,
    )
    def backfill(name: str, since: When = None, which: Which = "missing") -> Response:
        """Judge history by a grader; what is judged already is left alone unless asked for.

        Asking again after a stop goes on where it ended. `/v1/graders` shows the progress.
        """
        asked = backfills.ask(name, since=_moment(since, to_nanos(clock())), which=which)
        return Json(_progress(asked), status_code=202)


def _add_policies(router: APIRouter, judgments: Judgments, watched: Watched, clock: Clock) -> None:
    @router.get("/policies", operation_id="list_policies", tags=["policies"])
    def list_policies(since: When = "7d") -> Response:
        """List policies as they are set up, with how many runs kept and broke them."""
        where = ViolationFilter(since=_moment(since, to_nanos(clock())))
        counts = {(one.name, one.version): one for one in judgments.overview(where)}
        items = [
            {
                **_grader(counts[grader.name, grader.version]),
                "severity": grader.policy.severity,
                "policy": grader.policy.model_dump(mode="json", exclude_unset=True),
            }
            for grader in watched.policies
        ]
        return Json({"items": items})


def _add_jobs(router: APIRouter, jobs: Jobs) -> None:
    @router.get("/jobs", operation_id="list_jobs", tags=["jobs"])
    def list_jobs() -> Response:
        """List jobs: what each did last, and what is due."""
        return Json({"items": [_job(jobs, jobs.state(job)) for job in jobs.jobs]})

    @router.post("/jobs/{name}/run", operation_id="run_job", tags=["jobs"])
    async def run_job(name: str) -> Response:
        """Run what is due now instead of at the next tick; harmless at any time."""
        job = jobs.named(name)
        busy = jobs.working(name)
        done = await run_in_threadpool(jobs.tick, job)
        state = await run_in_threadpool(jobs.state, job)
        return Json({"windows": done, "was_working": busy, "job": _job(jobs, state)})


def _grader(one: GraderOverview) -> dict[str, JsonValue]:
    told = asdict(replace(one, counts={}, last_at=None))
    at = None if one.last_at is None else rfc3339(Nanos(one.last_at))
    return {**told, "counts": {str(k): n for k, n in one.counts.items()}, "last_at": at}


def _progress(one: Progress) -> dict[str, JsonValue]:
    return shown(one)


def _job(jobs: Jobs, state: JobState) -> dict[str, JsonValue]:
    last = state.last
    return {
        "name": state.name,
        "purpose": state.purpose,
        "width_seconds": state.width.total_seconds(),
        "last": None
        if last is None
        else {
            "window_start": _iso(last.window.start),
            "window_end": _iso(last.window.end),
            "rows": last.rows,
            "finished_at": _iso(last.finished_at),
        },
        "due": state.due,
        "failing": state.failing,
        "lag_seconds": None if state.lag is None else state.lag.total_seconds(),
        "working": jobs.working(state.name),
    }


def _iso(moment: dt.datetime) -> str:
    return rfc3339(to_nanos(moment))


def _moment(text: str | None, now: Nanos) -> Nanos | None:
    return None if text is None else moment_of(text, now)
