"""Tool steps on the tasks that two versions both solved; the naive mean is only struck through."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.metrics.figures import Figure
from scoring.metrics.group import Group
from scoring.metrics.scope import Link
from scoring.stats.headline import mean, tool_use
from scoring.stats.paired import paired_mean
from scoring.stats.rates import from_0
from scoring.stats.results import Estimate
from scoring.stats.shown import shown_measure

STRUCK = "struck_through"
"""Flag of a number that is shown only to say that it misleads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Tool steps of the solved runs per task: of this version, and of the one it is read against."""

    other: str
    """The other version."""
    own_steps: Mapping[str, Sequence[int]]
    other_steps: Mapping[str, Sequence[int]]


def tool_use_figure(group: Group, sides: Sides | None) -> tuple[Figure, Mapping[str, Figure]]:
    """Return steps per solved run on the common tasks, and what stands beside it."""
    if sides is None:
        text = "tool use is compared on common tasks: ask by=version with two versions"
        return group.nothing(text, "version", scale="steps"), {}
    if not sides.own_steps and not sides.other_steps:
        text = f"no solved run names its task: give the business key {group.units.task} a source"
        return group.nothing(text, f"business_keys.{group.units.task}", scale="steps"), {}
    found = tool_use(_solved(sides.other_steps), _solved(sides.own_steps))
    per_task = [value for task in found.tasks if (value := mean(sides.own_steps[task])) is not None]
    text = "" if found.tasks else f"no task was solved by both this version and {sides.other}"
    runs = sum(len(sides.own_steps[task]) for task in found.tasks)
    common = group.common_link(sides.other, runs)
    figure = _figure(group, from_0(paired_mean(per_task)), n=len(per_task), text=text, link=common)
    naive = _figure(
        group, None if found.naive_new is None else Estimate(value=found.naive_new),
        n=sum(map(len, sides.own_steps.values())), text="of whatever this version solved",
        unit="run", method="naive mean", flags=(STRUCK,), link=group.link("solved_task"),
    )  # fmt: skip
    beside = {
        "less_other_version": _figure(
            group,
            found.difference,
            n=len(per_task),
            method="paired t",
            link=common,
            text=f"less {sides.other} on the same tasks, whose runs are listed under that version",
        ),
        "naive_mean": naive,
    }
    return figure, beside


def _solved(steps: Mapping[str, Sequence[int]]) -> dict[str, list[tuple[int, bool]]]:
    return {task: [(number, True) for number in numbers] for task, numbers in steps.items()}


def _figure(
    group: Group, found: Estimate | None, *, n: int, text: str, link: Link, unit: str = "task",
    method: str = "t over tasks", flags: Sequence[str] = (),
) -> Figure:  # fmt: skip
    shown = shown_measure(
        found,
        n=n,
        unit=unit,
        method=method,
        scale="steps",
        excluded=group.excluded,
        confidence=group.confidence,
        flags=[*group.flags(), *flags],
    )
    return Figure(shown=shown, link=link, text=text)
