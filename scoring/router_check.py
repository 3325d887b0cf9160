"""A policy tried on stored runs before it is set up: bounded, and nothing of it is kept."""

from collections import Counter
from collections.abc import Iterator

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from collector.reading.changes import lots_of_runs
from collector.store import Reader
from collector.views import RunFilter, RunPosition
from gnomon.clock import Clock, to_nanos
from gnomon.errors import ConfigError, InputError, NotFound
from gnomon.http import LONGEST, Json, window_of
from gnomon.model import JsonValue, Origin, Run, RunState
from gnomon.watch import Watch
from scoring.grading.policy import version_of
from scoring.policies.check import applies, check_run
from scoring.policies.language import Policy, policy_of
from scoring.policies.verdict import Checked, Outcome

MOST = 5_000
"""Runs one call looks at."""

_SHOWN = 500
"""Runs with findings that one answer tells of."""

_PAGE = 500


class Trial(BaseModel):
    """A policy, and the runs to try it on: one, or those that started since a time."""

    model_config = ConfigDict(extra="forbid")

    policy: dict[str, JsonValue] = Field(description="The policy file as JSON.")
    run: str | None = Field(default=None, max_length=LONGEST)
    since: str | None = Field(default=None, max_length=64)
    until: str | None = Field(default=None, max_length=64)
    agent: str | None = Field(default=None, max_length=LONGEST)
    limit: int = Field(default=1_000, ge=1, le=MOST, description="Runs looked at, newest first.")


def add_check(router: APIRouter, reader: Reader, clock: Clock) -> None:
    """Add `POST /v1/policies/check`."""

    @router.post("/policies/check", operation_id="check_policy", tags=["policies"])
    def check_policy(trial: Trial) -> Response:
        """Try a policy on stored runs; open runs are left out, and counted."""
        policy = _read(trial.policy)
        runs, more = _asked(trial, reader, clock)
        counts: Counter[str] = Counter()
        items: list[dict[str, JsonValue]] = []
        called: set[str] = set()
        vacuous = 0
        for run, checked in _checked(policy, runs, reader, called):
            if isinstance(checked, str):
                counts[checked] += 1
                continue
            counts[checked.outcome] += 1
            vacuous += checked.outcome is Outcome.KEPT and not checked.applied
            if checked.outcome in (Outcome.BROKEN, Outcome.NOT_EVALUABLE):
                items.append(_told(run, checked))
        items.sort(key=lambda item: str(item["outcome"]))
        return Json(
            {
                "policy": policy.policy,
                "version": version_of(policy),
                "runs": len(runs),
                "more": more,
                "counts": dict(counts),
                "vacuous": vacuous,
                "items": items[:_SHOWN],
                "left_out": max(0, len(items) - _SHOWN),
                "tools": sorted(policy.tools),
                "never_called": _never_called(policy, counts, called),
            }
        )


def _never_called(policy: Policy, counts: Counter[str], called: set[str]) -> list[str]:
    """Return the tools of a policy that no judged run called: they may be misspelt."""
    judged = counts.total() - counts["open"] - counts["out_of_scope"]
    return sorted(policy.tools - called) if judged else []


def _read(said: dict[str, JsonValue]) -> Policy:
    try:
        return policy_of(Watch(name="policy", data=said), default_name="policy")
    except ConfigError as error:
        raise InputError(error.detail) from error


def _asked(trial: Trial, reader: Reader, clock: Clock) -> tuple[list[Run], bool]:
    """Return the runs to look at, and whether there are more."""
    if trial.run is not None:
        run = reader.run(trial.run)
        if run is None:
            raise NotFound(f"there is no run {trial.run}")
        return [run], False
    if trial.since is None:
        raise InputError("say run or since: nothing says which runs to look at")
    start, end = window_of(trial.since, trial.until, to_nanos(clock()))
    where = RunFilter(
        since=start,
        until=end,
        agent=trial.agent,
        origin=Origin.PRODUCTION,
    )
    found: list[Run] = []
    after: RunPosition | None = None
    while len(found) <= trial.limit:
        page = reader.runs(where, limit=_PAGE, after=after)
        found += page
        if len(page) < _PAGE:
            break
        after = RunPosition(page[-1].started_at, page[-1].run_id)
    return found[: trial.limit], len(found) > trial.limit


def _checked(
    policy: Policy, runs: list[Run], reader: Reader, called: set[str]
) -> Iterator[tuple[Run, Checked | str]]:
    for lot in lots_of_runs(runs):
        settled = [run for run in lot if run.state is RunState.SETTLED and applies(policy, run)]
        steps = reader.counted_steps(settled)
        called.update(step.tool_name for some in steps.values() for step in some if step.tool_name)
        for run in lot:
            if run.state is not RunState.SETTLED:
                yield run, "open"
            elif not applies(policy, run):
                yield run, "out_of_scope"
            else:
                yield run, check_run(policy, run, steps[run.run_id])


def _told(run: Run, checked: Checked) -> dict[str, JsonValue]:
    return {
        "run_id": run.run_id,
        "agent_name": run.agent_name,
        "agent_version": run.agent_version,
        "outcome": checked.outcome,
        "violations": [
            {"rule": one.rule, "message": one.message, "steps": list(one.steps)}
            for one in checked.violations
        ],
        "not_evaluable": [
            {"rule": one.rule, "reason": one.reason, "steps": list(one.steps)}
            for one in checked.not_evaluable
        ],
    }
