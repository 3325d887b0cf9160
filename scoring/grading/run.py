"""One grader and one run: what came of it, as the rows that are stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from gnomon.clock import Nanos
from gnomon.errors import Unavailable
from gnomon.model import Origin, Run, RunId
from scoring.grading.answers import wrong_answer
from scoring.grading.port import (
    Abstained,
    Answer,
    CheckFailed,
    Evidence,
    Grader,
    GraderFailed,
    GraderKind,
    Label,
    NotApplicable,
    State,
    Surface,
)
from scoring.rows import LabelRow, StatusRow, ViolationRow

_LONGEST = 2_000
"""Characters kept of what a grader says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The rows of one judgment."""

    status: StatusRow
    label: LabelRow | None
    violations: Sequence[ViolationRow]


Ask = Callable[[Grader, Evidence], Answer]


def judge(
    grader: Grader,
    evidence: Evidence,
    *,
    at: Nanos,
    ask: Ask = lambda grader, evidence: grader.grade(evidence),
) -> Judged:
    """Ask a grader about a run. What it raises is recorded as its own failure."""
    return rows_of(grader, evidence.run, _asked(grader, evidence, ask), at=at)


def _asked(grader: Grader, evidence: Evidence, ask: Ask) -> Answer | GraderFailed:
    try:
        answer = ask(grader, evidence)
        wrong = wrong_answer(answer)
        return answer if wrong is None else GraderFailed(reason=wrong)
    except Unavailable:
        # The store went away, or the process stops: no answer at all; the window is tried again.
        raise
    except CheckFailed as error:
        return GraderFailed(reason=str(error))
    except GeneratorExit:
        raise
    except BaseException as error:  # noqa: BLE001 - the plug-in boundary; recorded as an answer
        # SystemExit and KeyboardInterrupt, too: graders run in threads of their own, where neither
        # comes from the operator, and a plug-in that calls sys.exit must not end all judging.
        return GraderFailed(reason=_told(error))


def _told(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - an error of a plug-in that can not say what it is
        return type(error).__name__


def rows_of(grader: Grader, run: Run, answer: Answer | GraderFailed, *, at: Nanos) -> Judged:
    """Return what is stored of an answer."""
    match answer:
        case Label():
            breaches = violations_of(grader, run, answer, at=at)
            return Judged(
                status=_status(grader, run, State.GRADED, "", at, violations=len(breaches)),
                label=_label(grader, run, answer, at),
                violations=breaches,
            )
        case Abstained(reason=reason, claimed=claimed, evidence=steps):
            kept = None
            if claimed is not None:
                said = Label(claimed=claimed, explanation=reason, evidence=steps)
                kept = _label(grader, run, said, at)
            status = _status(grader, run, State.ABSTAINED, reason, at)
            return Judged(status=status, label=kept, violations=())
        case NotApplicable(reason=reason):
            status = _status(grader, run, State.NOT_APPLICABLE, reason, at)
            return Judged(status=status, label=None, violations=())
        case GraderFailed(reason=reason):
            status = _status(grader, run, State.FAILED, reason, at)
            return Judged(status=status, label=None, violations=())


class _OfRun(TypedDict):
    started_at: Nanos
    run_id: RunId
    revision: int
    agent_name: str | None
    agent_version: str | None
    environment: str
    origin: Origin


class _ByGrader(_OfRun):
    grader: str
    grader_version: str
    surface: Surface
    kind: GraderKind
    at: Nanos


def _of_run(run: Run) -> _OfRun:
    return {
        "started_at": run.started_at,
        "run_id": run.run_id,
        "revision": run.revision,
        "agent_name": run.agent_name,
        "agent_version": run.agent_version,
        "environment": run.environment,
        "origin": run.origin,
    }


def _by(grader: Grader, run: Run, at: Nanos) -> _ByGrader:
    return {
        **_of_run(run),
        "grader": grader.name,
        "grader_version": grader.version,
        "surface": grader.surface,
        "kind": grader.kind,
        "at": at,
    }


def violations_of(grader: Grader, run: Run, label: Label, *, at: Nanos) -> list[ViolationRow]:
    """Return the breaches of a judgment, numbered."""
    return [
        ViolationRow(
            **_of_run(run),
            policy=grader.name,
            policy_version=grader.version,
            place=place,
            rule=found.rule,
            message=found.message[:_LONGEST],
            severity=label.severity,
            steps=tuple(found.steps),
            at=at,
        )
        for place, found in enumerate(label.violations)
    ]


def _label(grader: Grader, run: Run, label: Label, at: Nanos) -> LabelRow:
    return LabelRow(
        **_by(grader, run, at),
        passed=label.passed,
        score=label.score,
        claimed=label.claimed,
        explanation=label.explanation[:_LONGEST],
        evidence=tuple(label.evidence),
    )


def _status(
    grader: Grader, run: Run, state: State, why: str, at: Nanos, *, violations: int = 0
) -> StatusRow:
    return StatusRow(**_by(grader, run, at), state=state, why=why[:_LONGEST], violations=violations)


def waiting(grader: Grader, run: Run, why: str, *, at: Nanos) -> StatusRow:
    """Return the status of a grader that has not looked yet."""
    return _status(grader, run, State.WAITING, why, at)
