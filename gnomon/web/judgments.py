"""What was judged of one run: its verdict, its graders with the reason why, its violations."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from gnomon.web.formats import cut, plural
from scoring.grading.port import State
from scoring.reading import RunJudgments
from scoring.rows import LabelRow, StatusRow
from scoring.verdict import breaches, deciding, verified

Verdict = Literal["pass", "fail", "unknown", "waiting"]
_MOST = 40
"""Violations of one run that its page lists."""
_STEPS = 6
"""Steps of one judgment that are named."""

WORDS: Mapping[State, str] = {
    State.ABSTAINED: "abstained",
    State.FAILED: "grader failed",
    State.NOT_APPLICABLE: "not applicable",
    State.WAITING: "waiting",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLink:
    """A step that a judgment points at."""

    name: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderLine:
    """What became of one grader."""

    name: str
    version: str
    surface: str
    kind: str
    look: str
    """ok, error, unknown, or none for what says nothing of the run."""
    word: str
    why: str
    steps: Sequence[StepLink]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One violation."""

    rule: str
    href: str
    severity: str
    message: str
    steps: Sequence[StepLink]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """The judged section of a run's page."""

    verdict: Verdict
    by: str
    """The graders that decided, or why nobody did."""
    breaches: Sequence[Breach]
    more: int
    """Breaches that are not listed."""
    graders: Sequence[GraderLine]


def verdict_of(judged: RunJudgments) -> Verdict:
    """Return the verdict of a run; waiting while a grader has not looked and none has decided."""
    match verified(judged):
        case True:
            return "pass"
        case False:
            return "fail"
        case None:
            pass
    waits = any(status.state is State.WAITING for status in judged.statuses)
    return "waiting" if waits else "unknown"


def broken_rules(judged: RunJudgments) -> Sequence[str]:
    """Return the rules that a run broke, each once."""
    return list(dict.fromkeys(f"{one.policy}/{one.rule}" for one in breaches(judged)))


def broken_steps(judged: RunJudgments | None) -> Set[str]:
    """Return the spans of the calls that broke a rule."""
    violations = () if judged is None else breaches(judged)
    return {one.steps[0] for one in violations if one.steps}


def pointed_at(judged: RunJudgments | None) -> Set[str]:
    """Return the spans that the judgments of a run show."""
    if judged is None:
        return frozenset()
    shown = [one.steps for one in breaches(judged)[:_MOST]] + [
        label.evidence for label in judged.labels
    ]
    return {span for spans in shown for span in spans[:_STEPS]}


def judgment(judged: RunJudgments, links: Mapping[str, StepLink]) -> Judgment:
    """Return what was judged of a run; `links`: the steps it points at, by span."""

    def steps(spans: Sequence[str]) -> Sequence[StepLink]:
        return [links[span] for span in spans[:_STEPS] if span in links]

    labels = {(label.grader, label.grader_version): label for label in judged.labels}
    broken = {(one.policy, one.policy_version) for one in judged.violations}
    counted = breaches(judged)
    return Judgment(
        verdict=verdict_of(judged),
        by=", ".join(f"{label.grader} {label.grader_version}" for label in deciding(judged)),
        breaches=[
            Breach(
                rule=f"{one.policy}/{one.rule}",
                href=f"/policies/{quote(one.policy)}/{quote(one.rule)}",
                severity=one.severity,
                message=one.message,
                steps=steps(one.steps),
            )
            for one in counted[:_MOST]
        ],
        more=max(0, len(counted) - _MOST),
        graders=[
            _line(status, labels.get((status.grader, status.grader_version)), steps, broken)
            for status in judged.statuses
        ],
    )


def _line(
    status: StatusRow,
    label: LabelRow | None,
    steps: Callable[[Sequence[str]], Sequence[StepLink]],
    broken: set[tuple[str, str]],
) -> GraderLine:
    look, word = _looks(status, label)
    why = status.why
    spans: Sequence[str] = ()
    if (status.grader, status.grader_version) in broken:
        why = plural(status.violations, "violation")
    elif label is not None:
        why = label.explanation or why
        spans = label.evidence
    return GraderLine(
        name=status.grader,
        version=status.grader_version,
        surface=str(status.surface),
        kind=str(status.kind),
        look=look,
        word=word,
        why=cut(why, 240),
        steps=steps(spans) if look == "error" else (),
    )


def _looks(status: StatusRow, label: LabelRow | None) -> tuple[str, str]:
    if status.state is not State.GRADED:
        quiet = status.state in (State.NOT_APPLICABLE, State.WAITING)
        return "none" if quiet else "unknown", WORDS[status.state]
    if label is None or label.passed is None:
        score = None if label is None else label.score
        return "unknown", "no verdict" if score is None else f"measured {score:.3g}"
    return ("ok", "pass") if label.passed else ("error", "fail")
