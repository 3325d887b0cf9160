"""The API of metrics, surfaces and comparisons: a number never comes without its guard."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from gnomon.clock import Clock, rfc3339, to_nanos, utc_now
from gnomon.errors import InputError
from gnomon.http import (
    LONGEST,
    PROBLEMS,
    Cursor,
    Json,
    Limit,
    Text,
    When,
    known_parameters,
    pack,
    unpack,
    window_of,
)
from gnomon.model import JsonValue, Origin
from scoring.metrics.reader import VERDICTS, Behind, MetricReader, Which
from scoring.metrics.scope import Scope
from scoring.metrics.watched import Measured
from scoring.versions.reader import CompareReader

By = Annotated[
    str,
    Query(max_length=200, description="version, environment, week, day, or `slice:<name>`."),
]
Version = Annotated[str, Query(max_length=LONGEST)]


def build_router(
    metrics: MetricReader, compare: CompareReader, *, clock: Clock = utc_now
) -> APIRouter:
    """Build `/v1/metrics`, `/v1/surfaces` and `/v1/compare/…`."""
    router = APIRouter(
        prefix="/v1",
        responses=PROBLEMS,
        tags=["metrics"],
        dependencies=[Depends(known_parameters)],
    )
    _add_metrics(router, metrics, clock)
    _add_behind(router, metrics, clock)
    _add_compare(router, compare, clock)
    return router


class _Asked:
    """The runs a request is about."""

    def __init__(self, clock: Clock, *, origin: str = "production") -> None:
        self._clock = clock
        self._origin = origin

    def __call__(
        self,
        agent: Text = None,
        version: Text = None,
        environment: Text = None,
        slice: Annotated[  # noqa: A002 - the name of the parameter
            list[str] | None, Query(description="`name:value` of a slice of gnomon.yaml.")
        ] = None,
        since: When = None,
        until: When = None,
        origin: Annotated[
            str | None,
            Query(
                pattern="^(production|shadow|replay|all)$",
                description="Unset: production; where tasks are compared all of them; where a rule is"
                " about what is compared, those it names.",
            ),
        ] = None,
    ) -> Scope:
        """Return the scope that the parameters name."""
        start, end = window_of(since, until, to_nanos(self._clock()))
        return Scope(
            agent=agent,
            version=version,
            environment=environment,
            slices=_slices(slice or []),
            since=start,
            until=end,
            origin=_origin(origin or self._origin),
        )


def _origin(said: str) -> Origin | None:
    return None if said == "all" else Origin(said)


def _named(origin: Origin | None) -> str:
    return "all" if origin is None else origin.value


def _slices(asked: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in asked:
        name, colon, value = text.partition(":")
        if not colon or not name:
            raise InputError(f"slice={text} names no value; write slice=name:value")
        found[name] = value
    return found


def _scoped(scope: Scope) -> JsonValue:
    return {
        "agent": scope.agent,
        "version": scope.version,
        "environment": scope.environment,
        "slices": dict(scope.slices),
        "since": None if scope.since is None else rfc3339(scope.since),
        "until": None if scope.until is None else rfc3339(scope.until),
        "origin": _named(scope.origin),
    }


def _add_metrics(router: APIRouter, metrics: MetricReader, clock: Clock) -> None:
    asked = _Asked(clock)

    @router.get("/metrics", operation_id="list_metrics")
    def list_metrics(scope: Annotated[Scope, Depends(asked)], by: By = "") -> Response:
        """Return the nine metrics, each with its guard, and the three numbers together."""
        found = metrics.metrics(scope, by=by)
        groups = [report.as_json() for report in found]
        return Json({"scope": _scoped(scope), "by": by, "groups": groups})

    @router.get("/surfaces", operation_id="list_surfaces")
    def list_surfaces(scope: Annotated[Scope, Depends(asked)], by: By = "") -> Response:
        """Return the seven surfaces side by side; they are never added up."""
        found = metrics.surfaces(scope, by=by)
        groups = [report.as_json() for report in found]
        return Json({"scope": _scoped(scope), "by": by, "groups": groups})


def _add_behind(router: APIRouter, metrics: MetricReader, clock: Clock) -> None:
    asked = _Asked(clock)

    @router.get("/metrics/runs", operation_id="list_runs_behind")
    def list_runs_behind(
        scope: Annotated[Scope, Depends(asked)],
        part: Annotated[str, Query(max_length=80)] = "scoped",
        grader: Annotated[str, Query(max_length=200)] = "",
        verdict: Annotated[str, Query(pattern=f"^({'|'.join(VERDICTS)})$")] = "any",
        rule: Annotated[str, Query(max_length=500, description="`policy/rule`, or a policy.")] = "",
        common: Annotated[
            str | None,
            Query(max_length=LONGEST, description="A version: only tasks that it solved as well."),
        ] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Response:
        """List exactly the runs behind a number, newest first; links of figures lead here."""
        before = None
        if cursor is not None:
            started_at, run_id = unpack("behind", cursor, int, str)
            before = Behind(run_id=run_id, started_at=started_at)
        which = Which(part=part, grader=grader, verdict=verdict, rule=rule, common=common)
        found = metrics.behind(scope, which, limit=limit + 1, before=before)
        page = found[:limit]
        more = len(found) > limit
        return Json(
            {
                "items": [
                    {"run_id": run.run_id, "started_at": rfc3339(run.started_at)} for run in page
                ],
                "next": pack("behind", page[-1].started_at, page[-1].run_id) if more else None,
            }
        )


def _add_compare(router: APIRouter, compare: CompareReader, clock: Clock) -> None:
    asked = _Asked(clock, origin=_named(compare.origin("live")))
    tried = _Asked(clock, origin=_named(compare.origin("tasks")))

    @router.get("/compare/live", operation_id="compare_live")
    def compare_live(
        scope: Annotated[Scope, Depends(asked)],
        base: Version,
        cand: Version,
        metric: Measured | None = None,
        mix: Annotated[str | None, Query(max_length=200, description="Name of a slice.")] = None,
    ) -> Response:
        """Compare two versions in the weeks both have; the mix of inputs is taken out."""
        found = compare.live(scope, base=base, cand=cand, metric=metric, by_slice=mix)
        return Json({"scope": _scoped(found.setting.scope), **found.as_json()})

    @router.get("/compare/tasks", operation_id="compare_tasks")
    def compare_tasks(
        scope: Annotated[Scope, Depends(tried)],
        base: Version,
        cand: Version,
        metric: Measured | None = None,
    ) -> Response:
        """Compare two versions on the tasks both tried: paired, with the tasks to read."""
        found = compare.on_tasks(scope, base=base, cand=cand, metric=metric)
        return Json({"scope": _scoped(found.setting.scope), **found.as_json()})
