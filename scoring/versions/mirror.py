"""A look with its sides exchanged: what was seen once is answered in either order, never seen twice."""

from dataclasses import replace

from scoring.stats.results import Difference
from scoring.versions import rule
from scoring.versions.looks import TakenLook
from scoring.versions.rule import Plan


def mirrored(taken: TakenLook, plan: Plan) -> TakenLook:
    """Return a look as if it had been taken in the other order, decided by the same rule."""
    tasks = None if taken.tasks is None else taken.tasks.swapped
    live = None if taken.live is None else taken.live.swapped
    guard = taken.guard.swapped
    decision = rule.decided(plan, _difference(taken).swapped, n=taken.n)
    return replace(
        taken,
        guard=guard,
        tasks=tasks,
        live=live,
        decision=guard.over(decision, known=plan.violations_known),
    )


def _difference(taken: TakenLook) -> Difference:
    if taken.tasks is not None:
        return taken.tasks.difference
    if taken.live is not None:
        return taken.live.deciding
    raise ValueError("a look is at tasks or at live runs")
