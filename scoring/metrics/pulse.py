"""What the first page asks of runs every few seconds: verdicts, the three numbers, violations."""

from dataclasses import dataclass

from scoring.metrics.figures import Figure, Guarded
from scoring.metrics.group import Group
from scoring.metrics.three import ThreeNumbers, three

DECIDED = "verified runs of those that are verified right or wrong; unknown ones are left out"


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
    unknown = group.share("unverified")
    false = group.share("false_claims", left_out="no_claim")
    return Pulse(
        group=group.sums.group,
        runs=parts["scoped"],
        passed=parts["verified"],
        failed=parts["failed"],
        unknown=parts["unverified"],
        running=parts["running"],
        pass_rate=Guarded(
            name="pass_rate",
            definition=DECIDED,
            measure=group.share("passed", left_out="unknown"),
            guard={"unknown": unknown, "false_claims": false},
        ),
        three=three(group),
        unknown_share=unknown,
        violations=group.share("violations", left_out="no_policy", never=True),
        false_claims=false,
    )
