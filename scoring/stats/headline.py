"""The three numbers that are only ever shown together, and tool use on common tasks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.stats.arguments import count, number
from scoring.stats.clusters import ratio
from scoring.stats.paired import paired_mean
from scoring.stats.rates import from_0
from scoring.stats.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a task."""

    case: str
    attempt: int
    """From 0, in order."""
    succeeded: bool
    cost: float
    """Money or tokens; failed attempts cost too."""
    done: bool
    """False when it was aborted."""
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreeNumbers:
    """Solution rate, cost per success and share aborted, with two that explain them."""

    solution_rate: Estimate | None
    """By task: mean of the tasks' own rates, t over tasks."""
    cost_per_success: Estimate | None
    """All cost over all successes, by task; None at no success."""
    aborted: float | None
    first_attempt_rate: float | None
    """Share of tasks solved at the first attempt; the solution rate says it with less noise."""
    mean_steps_successful: float | None
    """Diagnostic only: suffers from which tasks were solved."""


def three_numbers(rows: Sequence[Attempt], *, confidence: float = 0.95) -> ThreeNumbers:
    """Return solution rate, cost per success and share aborted of some attempts.

    rows: attempts of any number of tasks; cost in any unit. Result: fractions, and cost per
    success in the unit of cost, its lower limit at least 0 where no cost is negative. No row:
    None throughout. No success: cost per success None.
    Raises ValueError if a cost is not finite or a number of steps negative.
    Source: mean over tasks with t; ratio estimator with Fieller's interval.
    """
    tasks: dict[str, list[Attempt]] = {}
    for row in rows:
        count("steps", row.steps)
        number("cost", row.cost)
        tasks.setdefault(row.case, []).append(row)
    solved = [sum(row.succeeded for row in task) for task in tasks.values()]
    rates = [c / len(task) for c, task in zip(solved, tasks.values(), strict=True)]
    spent = [math.fsum(row.cost for row in task) for task in tasks.values()]
    first = [min(task, key=lambda row: row.attempt).succeeded for task in tasks.values()]
    steps = [row.steps for row in rows if row.succeeded]
    each = ratio(spent, solved, confidence=confidence)
    refunded = any(row.cost < 0 for row in rows)
    return ThreeNumbers(
        solution_rate=paired_mean(rates, confidence=confidence),
        cost_per_success=each if refunded else from_0(each),
        aborted=mean([not row.done for row in rows]),
        first_attempt_rate=mean(first),
        mean_steps_successful=mean(steps),
    )


def mean(values: Sequence[float]) -> float | None:
    """Return the mean; nothing gives None. No error."""
    return math.fsum(values) / len(values) if values else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """Tool steps per solved run on tasks that both versions solved."""

    old: float | None
    new: float | None
    difference: Estimate | None
    """New minus old, one difference per common task, t over tasks."""
    tasks: Sequence[str]
    naive_old: float | None
    """Over whatever each version solved: shown struck through only."""
    naive_new: float | None


def tool_use(
    old: Mapping[str, Sequence[tuple[int, bool]]],
    new: Mapping[str, Sequence[tuple[int, bool]]],
    *,
    confidence: float = 0.95,
) -> ToolUse:
    """Return tool steps per successful run on tasks both versions solved at least once.

    old, new: task to its runs (tool steps, solved); repeats and errors are steps. Steps are
    averaged per task, then over tasks. No common task: None throughout but the naive means.
    Raises ValueError if a number of steps is negative.
    Source: pairing by task; the naive mean punishes who solves the hard ones.
    """
    first, second = _solved_steps(old), _solved_steps(new)
    common = sorted(first.keys() & second.keys())
    means = [
        [math.fsum(side[task]) / len(side[task]) for task in common] for side in (first, second)
    ]
    apart = [b - a for a, b in zip(*means, strict=True)]
    return ToolUse(
        old=mean(means[0]),
        new=mean(means[1]),
        difference=paired_mean(apart, confidence=confidence),
        tasks=tuple(common),
        naive_old=mean([steps for task in first.values() for steps in task]),
        naive_new=mean([steps for task in second.values() for steps in task]),
    )


def _solved_steps(runs: Mapping[str, Sequence[tuple[int, bool]]]) -> dict[str, list[int]]:
    """Return the tool steps of the solved runs per task, tasks without one left out."""
    solved = {
        task: [count("tool steps", steps) for steps, passed in attempts if passed]
        for task, attempts in runs.items()
    }
    return {task: steps for task, steps in solved.items() if steps}
