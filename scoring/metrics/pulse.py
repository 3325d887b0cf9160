"""What the first page asks of runs every few seconds: verdicts, the three numbers, violations."""

from collections.abc import Mapping
from dataclasses import dataclass

from scoring.metrics.figures import Figure, Guarded
from scoring.metrics.group import Group
from scoring.metrics.guards import honest, told, violations
from scoring.metrics.three import ThreeNumbers, three

PASSED = (
    "verified runs of all settled runs, where runs of tasks repeat the mean of the tasks' shares;"
    " while some are verified neither right nor wrong, the least and the most it can be"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """One group of runs."""

    group: str
    runs: int
    """Scoped runs."""
    passed: int
    failed: int
    unknown: int
    """Neither verified right nor wrong; in neither of the others."""
    running: int
    pass_rate: Guarded
    three: ThreeNumbers
    unknown_share: Figure
    violations: Figure
    false_claims: Figure


def pulse(group: Group) -> Pulse:
    """Return the numbers of one group; they need no look at steps."""
    parts = group.sums.parts
    unknown, false = told(group.share("unverified"), group), told(group.false_claims(), group)
    rate = Guarded(
        name="pass_rate",
        definition=PASSED,
        measure=group.completion(),
        guard={"unknown": unknown, "false_claims": false},
    )
    return Pulse(
        group=group.sums.group,
        runs=parts["scoped"],
        passed=parts["verified"],
        failed=parts["failed"],
        unknown=parts["unverified"],
        running=parts["running"],
        pass_rate=honest(rate, group),
        three=three(group),
        unknown_share=unknown,
        violations=told(violations(group), group),
        false_claims=false,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One stretch of time: verdicts, the pass rate with its interval, and bare courses beside."""

    start: int
    """Nanoseconds since 1970."""
    runs: int
    passed: int
    failed: int
    unknown: int
    running: int
    pass_rate: Figure
    """Bounds, while some runs are neither verified right nor wrong."""
    least: Figure
    """If all of those were wrong, with its interval."""
    most: Figure
    """If all of those were right."""
    course: Mapping[str, float | None]
    """Values by name of the tile they are the course of; only ever drawn, never written."""


def beat(group: Group) -> Beat:
    """Return the numbers of one stretch of time; intervals only where they are shown."""
    sums = group.sums
    solved, spent = sums.spent.s, sums.spent.c
    means = {name: sums.ratios[name].mean for name in _COURSES}
    least = group.share("completion")
    return Beat(
        start=int(sums.group),
        runs=sums.parts["scoped"],
        passed=sums.parts["verified"],
        failed=sums.parts["failed"],
        unknown=sums.parts["unverified"],
        running=sums.parts["running"],
        pass_rate=group.completion(),
        least=least,
        most=group.share("not_failed"),
        course={
            **means,
            "completion": least.shown.value,
            # As completion here: those that nobody verified count as not solved.
            "cost_per_success": spent / solved if solved and sums.parts["priced"] else None,
        },
    )


_COURSES = ("aborted", "unverified", "violations", "false_claims")
