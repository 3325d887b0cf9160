"""One grader and one run: what came of it, as the rows that are stored."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    TryAgain,
)
from scoring.grading.redaction import told
from scoring.policies.verdict import Held
from scoring.retries import TRIES, next_try
from scoring.rows import LabelRow, StatusRow, ViolationRow, held_columns

_LONGEST = 2_000
"""Characters kept of what a grader says."""

_MOST_STEPS, _LONGEST_ID = 100, 128
"""Span ids kept of a label or a breach, and characters of each."""

_MOST_BREACHES = 1_000
"""Breaches kept of one judgment."""


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
    tries: int = 0,
) -> Judged:
    """Ask a grader about a run. What it raises is recorded as its own failure.

    `tries`: how often it was asked already while the world did not answer.
    """
    return rows_of(grader, evidence.run, _asked(grader, evidence, ask), at=at, tries=tries)


def _asked(grader: Grader, evidence: Evidence, ask: Ask) -> Answer | GraderFailed:
    try:
        answer = ask(grader, evidence)
        wrong = wrong_answer(answer)
        return answer if wrong is None else GraderFailed(reason=wrong)
    except Unavailable:
        # The store went away, or the process stops: no answer at all; the window is tried again.
        raise
    except CheckFailed as error:
        return GraderFailed(reason=str(error), for_now=isinstance(error, TryAgain))
    except BaseException as error:  # noqa: BLE001 - the plug-in boundary; recorded as an answer
        # SystemExit, KeyboardInterrupt and GeneratorExit, too: graders run in threads of their own,
        # where none comes from the operator or from whoever closes a generator, and a plug-in that
        # calls sys.exit must not end all judging.
        return GraderFailed(reason=told(error))


def rows_of(
    grader: Grader, run: Run, answer: Answer | GraderFailed, *, at: Nanos, tries: int = 0
) -> Judged:
    """Return what is stored of an answer."""
    match answer:
        case Label():
            breaches = violations_of(grader, run, answer, at=at)
            status = _status(
                grader, run, State.GRADED, _cut_short(answer), at,
                violations=len(breaches), held=_held(answer),
            )  # fmt: skip
            return Judged(
                status=status,
                label=_label(grader, run, answer, at),
                violations=breaches,
            )
        case Abstained(reason=reason, claimed=claimed, evidence=steps, held=held):
            kept = None
            if claimed is not None:
                said = Label(claimed=claimed, explanation=reason, evidence=steps)
                kept = _label(grader, run, said, at)
            status = _status(grader, run, State.ABSTAINED, reason, at, held=held)
            return Judged(status=status, label=kept, violations=())
        case NotApplicable(reason=reason, held=held):
            status = _status(grader, run, State.NOT_APPLICABLE, reason, at, held=held)
            return Judged(status=status, label=None, violations=())
        case GraderFailed(for_now=for_now):
            failed = _tried(answer, tries + 1) if for_now else answer
            status = _status(grader, run, State.FAILED, failed.reason, at)
            if for_now:
                status = replace(status, tries=tries + 1, again_at=next_try(at, tries))
            return Judged(status=status, label=None, violations=())


def _tried(failed: GraderFailed, tries: int) -> GraderFailed:
    told = f"try {tries} of {TRIES}" if tries < TRIES else f"{tries} tries, none follows"
    reason = f"{_cut(failed.reason, _LONGEST - 100)} ({told})"
    return replace(failed, reason=reason)


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
            rule=_cut(found.rule, _LONGEST),
            message=_cut(found.message, _LONGEST),
            severity=label.severity,
            steps=_some(found.steps),
            at=at,
        )
        for place, found in enumerate(label.violations[:_MOST_BREACHES])
    ]


def _label(grader: Grader, run: Run, label: Label, at: Nanos) -> LabelRow:
    return LabelRow(
        **_by(grader, run, at),
        passed=label.passed,
        score=label.score,
        claimed=label.claimed,
        explanation=_cut(label.explanation, _LONGEST),
        evidence=_some(label.evidence),
    )


def _cut(text: str, longest: int) -> str:
    """Return text that is bounded, and marked where it was longer."""
    if len(text) <= longest:
        return text
    mark = f" … (truncated, {len(text)} characters)"
    return text[: longest - len(mark)] + mark


def _some(steps: Sequence[str]) -> tuple[str, ...]:
    return tuple(step[:_LONGEST_ID] for step in steps[:_MOST_STEPS])


def _cut_short(label: Label) -> str:
    """Return what is not kept of a judgment, as the status tells it; empty when all is."""
    told = []
    if len(label.violations) > _MOST_BREACHES:
        told.append(f"{_MOST_BREACHES} of {len(label.violations)} breaches are kept")
    lists = [label.evidence, *(one.steps for one in label.violations[:_MOST_BREACHES])]
    if any(len(steps) > _MOST_STEPS for steps in lists):
        told.append(f"at most {_MOST_STEPS} span ids of each list are kept")
    if any(len(step) > _LONGEST_ID for steps in lists for step in steps[:_MOST_STEPS]):
        told.append(f"what is longer than {_LONGEST_ID} characters is no span id and is cut")
    return f"truncated: {'; '.join(told)}" if told else ""


def _held(label: Label) -> Sequence[Held]:
    """Return what a judgment was held against.

    Of a kind that it breaks and does not tell of, nobody knows how often it was kept.
    """
    told = {one.kind for one in label.held}
    untold = Counter(one.kind for one in label.violations if one.kind not in told)
    return [*label.held, *(Held(kind=kind, unknown=n) for kind, n in untold.items())]


def _status(
    grader: Grader, run: Run, state: State, why: str, at: Nanos, *, violations: int = 0,
    held: Sequence[Held] = (),
) -> StatusRow:  # fmt: skip
    return StatusRow(
        **_by(grader, run, at),
        **held_columns(held),
        state=state,
        why=_cut(why, _LONGEST),
        violations=violations,
    )


def waiting(grader: Grader, run: Run, why: str, *, at: Nanos) -> StatusRow:
    """Return the status of a grader that has not looked yet."""
    return _status(grader, run, State.WAITING, why, at)
