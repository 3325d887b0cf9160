"""Whether a run did what it should have done: one verdict from the labels of all graders; pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass

from gnomon.clock import Nanos
from gnomon.model import Run
from scoring.acts import Acts
from scoring.grading.port import GraderKind, State, Surface
from scoring.policies.verdict import Held, Outcome, RuleKind, outcome_of
from scoring.reading import RunJudgments
from scoring.rows import LabelRow, StatusRow, VerdictRow, ViolationRow

_RULES = frozenset({Surface.POLICY, Surface.TRAJECTORY})
"""Surfaces whose breaches are violations; of others a hard breach is one."""

_UNTOLD = frozenset({State.ABSTAINED, State.FAILED})
"""What became of a grader that should have judged and can not tell."""


def verified(judged: RunJudgments) -> bool | None:
    """Return whether the outcome is right; None when nobody knows.

    By code, else by people, never by a model or by what the agent claims; one grader that says
    no is enough.
    """
    labels = deciding(judged)
    return all(label.passed for label in labels) if labels else None


def deciding(judged: RunJudgments) -> Sequence[LabelRow]:
    """Return the labels that the verdict is made of: outcome, by the version that speaks."""
    labels = [
        label
        for label in _present(judged)
        if label.surface is Surface.OUTCOME and label.passed is not None
    ]
    code = [one for one in labels if one.kind is GraderKind.CODE and one.claimed is None]
    return code or [one for one in labels if one.kind is GraderKind.HUMAN]


Place = tuple[bool, Nanos, str]


def place(grader: str, version: str, at: Nanos, versions: Mapping[str, str]) -> Place:
    """Return how much a version that looked has to say: the one that is set up, else the newest.

    A version that is set up anew and has judged nothing yet leaves the word to the one before; one
    that was set back to has it again.
    """
    return versions.get(grader) == version, at, version


def speaking(judged: RunJudgments) -> Mapping[str, StatusRow]:
    """Return the status of each grader's version that speaks for it, by grader."""

    def own(status: StatusRow) -> Place:
        return place(status.grader, status.grader_version, status.at, judged.versions)

    found: dict[str, StatusRow] = {}
    for status in judged.statuses:
        known = found.get(status.grader)
        if status.state is not State.WAITING and (known is None or own(status) >= own(known)):
            found[status.grader] = status
    return found


def breaches(judged: RunJudgments) -> Sequence[ViolationRow]:
    """Return the breaches that count: those found by the version that speaks for its grader."""
    graders = speaking(judged)
    return [
        one
        for one in judged.violations
        if (status := graders.get(one.policy)) is not None
        and status.grader_version == one.policy_version
        and one.place < status.violations
    ]


def verdict_row(run: Run, judged: RunJudgments, acts: Acts, *, at: Nanos) -> VerdictRow:
    """Return what is stored of a run at its present revision."""
    graders = speaking(judged)
    labels = _present(judged)
    broken = _Broken.of(graders, breaches(judged))
    passed = {label.grader: _told(label.passed) for label in labels}
    claims = [label for label in labels if label.claimed]
    people = [
        label.passed
        for label in labels
        if label.surface is Surface.OUTCOME
        and label.kind is GraderKind.HUMAN
        and label.passed is not None
    ]
    held: defaultdict[RuleKind, list[Held]] = defaultdict(list)
    for one in (one for status in graders.values() for one in status.held):
        held[one.kind].append(one)
    gates = held[RuleKind.GATE]
    states = {status.state for status in graders.values() if status.surface in _RULES}
    return VerdictRow(
        started_at=run.started_at,
        run_id=run.run_id,
        revision=run.revision,
        verified=_told(verified(judged)),
        claimed=bool(claims),
        claim_held=min((_told(c.passed) for c in claims if c.passed is not None), default=-1),
        people_judged=bool(people),
        people_passed=bool(people) and all(people),
        conduct=_conduct(states, broken=broken.any, judged=broken.any),
        hard_conduct=_conduct(states, broken=broken.hard, judged=broken.any),
        budget=outcome_of(held[RuleKind.BUDGET]),
        checks=outcome_of(held[RuleKind.CHECK] + gates),
        effects=outcome_of(held[RuleKind.EFFECTS]),
        gated_actions=sum(one.kept + one.broken for one in gates),
        unapproved_actions=sum(one.broken for one in gates),
        unclear_actions=sum(one.unknown for one in gates),
        graders=list(graders),
        grader_versions=[status.grader_version for status in graders.values()],
        surfaces=[str(status.surface) for status in graders.values()],
        kinds=[str(status.kind) for status in graders.values()],
        states=[str(status.state) for status in graders.values()],
        passes=[
            passed.get(name, -1) if status.state is State.GRADED else -1
            for name, status in graders.items()
        ],
        policies=[policy for policy, _, _ in broken.rules],
        rules=[rule for _, rule, _ in broken.rules],
        severities=[severity for _, _, severity in broken.rules],
        **asdict(acts),
        judged_at=max((status.at for status in judged.statuses), default=at),
        at=at,
    )


def _conduct(states: Set[State], *, broken: bool, judged: bool) -> Outcome:
    """Return what became of rules: a run of which one grader can not tell is not clean."""
    if broken:
        return Outcome.BROKEN
    if states & _UNTOLD:
        return Outcome.NOT_EVALUABLE
    return Outcome.KEPT if judged or State.GRADED in states else Outcome.NOT_APPLICABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Broken:
    """The rules that a run broke, each once, with the surface of the grader that found it."""

    rules: Sequence[tuple[str, str, str]]
    """Policy, rule, severity."""
    surfaces: Mapping[str, Surface]

    @classmethod
    def of(cls, graders: Mapping[str, StatusRow], violations: Sequence[ViolationRow]) -> "_Broken":
        counted = [(one.policy, one.rule, str(one.severity)) for one in violations]
        surfaces = {name: status.surface for name, status in graders.items()}
        return cls(rules=list(dict.fromkeys(counted)), surfaces=surfaces)

    @property
    def hard(self) -> bool:
        return any(severity == "hard" for _, _, severity in self.rules)

    @property
    def any(self) -> bool:
        return self.hard or any(self.surfaces[policy] in _RULES for policy, _, _ in self.rules)


def _present(judged: RunJudgments) -> Sequence[LabelRow]:
    graders = speaking(judged)
    return [
        label
        for label in judged.labels
        if label.grader in graders and graders[label.grader].grader_version == label.grader_version
    ]


def _told(passed: bool | None) -> int:
    return -1 if passed is None else int(passed)
