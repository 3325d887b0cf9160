"""The three numbers that are only ever shown together."""

from dataclasses import dataclass

from gnomon.model import JsonValue
from scoring.metrics.compute import cost_per_solved
from scoring.metrics.definitions import THREE
from scoring.metrics.figures import Figure
from scoring.metrics.group import Group
from scoring.metrics.guards import too_incomplete, with_prices_told


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreeNumbers:
    """Solution rate, cost per success, share aborted."""

    solution_rate: Figure
    cost_per_success: Figure
    aborted: Figure

    def as_json(self) -> JsonValue:
        """Return all three in one object."""
        return {
            "definition": THREE,
            "solution_rate": self.solution_rate.as_json(),
            "cost_per_success": self.cost_per_success.as_json(),
            "aborted": self.aborted.as_json(),
        }


def three(group: Group) -> ThreeNumbers:
    """Return the three numbers; without a run three None, without a success no cost for one."""
    numbers = ThreeNumbers(
        solution_rate=group.completion(),
        cost_per_success=with_prices_told(cost_per_solved(group), group),
        aborted=group.share("aborted"),
    )
    why = too_incomplete(group)
    if not why:
        return numbers
    return ThreeNumbers(
        solution_rate=numbers.solution_rate.withheld(why),
        cost_per_success=numbers.cost_per_success.withheld(why),
        aborted=numbers.aborted.withheld(why),
    )
