"""Two versions on the same tasks: mean, interval, tests, counts, and the tasks to read."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from scoring.stats.arguments import level, part
from scoring.stats.paired import (
    mcnemar_midp,
    paired_mean,
    sign_flip,
    sign_test,
    t_test,
    tango,
    whole_differences,
)
from scoring.stats.results import Changed, Difference, Estimate
from scoring.stats.sequential import bernstein_sequence
from scoring.stats.shown import shown_difference
from scoring.stats.trials import Task


def compare_tasks(
    new: Mapping[str, Task],
    old: Mapping[str, Task],
    *,
    task_of: Mapping[str, str] | None = None,
    seed: int = 0,
    confidence: float = 0.95,
) -> Difference:
    """Return how a new version differs from an old one on the tasks that both tried.

    new, old: case to (n valid trials, c passes); task_of: case to task, where a task has several
    cases (they are averaged first; else a case is a task). One difference of pass rates per
    task, never per trial; cases of one side only, or without a valid trial, are counted in
    `excluded`. One trial everywhere: Tango and exact McNemar; else t over tasks, sign flips and
    sign test. Result: fraction in [-1, 1] with p-values by method, better / same / worse, and
    every changed task, largest change first. No common task: value None.
    Raises ValueError if passes exceed trials.
    Source: Student 1908; Fisher 1935; Tango 1998; Miller 2024 (one difference per question).
    """
    for n, c in (*new.values(), *old.values()):
        part("c", c, "n", n)
    common = [case for case in new if case in old and new[case][0] and old[case][0]]
    by_task: dict[str, list[Fraction]] = {}
    for case in common:
        gain = Fraction(new[case][1], new[case][0]) - Fraction(old[case][1], old[case][0])
        by_task.setdefault((task_of or {}).get(case, case), []).append(gain)
    names = sorted(by_task)
    exact = [sum(by_task[name], Fraction()) / len(by_task[name]) for name in names]
    single = bool(names) and len(names) == len(common) and _one_trial(new, old, common)
    gains = [float(d) for d in exact]
    b, c = sum(d > 0 for d in exact), sum(d < 0 for d in exact)
    found = (
        tango(b, c, len(names), confidence=confidence)
        if single
        else within_one(paired_mean(gains, confidence=confidence))
    )
    changes = [Changed(name=name, size=d) for name, d in zip(names, gains, strict=True)]
    return shown_difference(
        found,
        n=len(names),
        unit="task",
        method="tango" if single else "t over tasks",
        excluded=_left_out(new, old, set(common)),
        confidence=confidence,
        p_values=_p_values(exact, b, c, single=single, seed=seed),
        changes=sorted(changes, key=lambda change: (-abs(change.size), change.name)),
    )


def any_time(d: Iterable[float], *, confidence: float = 0.95) -> Estimate | None:
    """Return the mean of paired differences with an interval that may be looked at any time.

    d: one difference in [-1, 1] per unit, in the order in which the units came; confidence: of
    all moments together. Result: fraction in [-1, 1]. No unit gives None.
    Raises ValueError if a difference lies outside [-1, 1].
    Source: Waudby-Smith & Ramdas 2024 on (d + 1) / 2.
    """
    found = bernstein_sequence(((value + 1) / 2 for value in d), 1 - level(confidence))
    if found is None:
        return None
    value, low, high = (
        None if end is None else 2 * end - 1 for end in (found.value, found.low, found.high)
    )
    return Estimate(value=value, low=low, high=high, flags=found.flags)


def _one_trial(new: Mapping[str, Task], old: Mapping[str, Task], cases: Sequence[str]) -> bool:
    """Return whether every case has one trial on each side."""
    return all(new[case][0] == old[case][0] == 1 for case in cases)


def within_one(found: Estimate | None) -> Estimate | None:
    """Return a difference of rates with its limits inside [-1, 1], flagged if they were not.

    No error; None stays None. Source: rates lie between 0 and 1.
    """
    if found is None or found.low is None or found.high is None:
        return found
    low, high = max(-1.0, found.low), min(1.0, found.high)
    moved = (low, high) != (found.low, found.high)
    flags = (*found.flags, "clipped") if moved else found.flags
    return Estimate(value=found.value, low=low, high=high, se=found.se, df=found.df, flags=flags)


def _left_out(new: Mapping[str, Task], old: Mapping[str, Task], common: set[str]) -> dict[str, int]:
    """Return how many cases were left out, by reason."""
    reasons = {
        "only_new": len(new.keys() - old.keys()),
        "only_old": len(old.keys() - new.keys()),
        "no_valid_trial": len((new.keys() & old.keys()) - common),
    }
    return {reason: n for reason, n in reasons.items() if n}


def _p_values(
    exact: Sequence[Fraction], b: int, c: int, *, single: bool, seed: int
) -> dict[str, float | None]:
    """Return the p-values by method; none without a task."""
    if not exact:
        return {}
    if single:
        return {"mcnemar": sign_test(b, c), "mcnemar_midp": mcnemar_midp(b, c)}
    gains = [float(d) for d in exact]
    student = t_test(gains)
    return {
        "t": None if student is None else student.p,
        "sign_flip": sign_flip(whole_differences(exact) or gains, seed=seed),
        "sign_test": sign_test(b, c),
    }


def far_apart(start_gaps: Mapping[str, float], *, most: float = 3600.0) -> list[str]:
    """Return the pairs of trials that ran too far apart to be compared without a remark.

    start_gaps: pair id to seconds between both starts; most: seconds, an hour. Result: ids,
    sorted. No error. Source: both versions run interleaved, in the same hour.
    """
    return sorted(pair for pair, gap in start_gaps.items() if abs(gap) > most)
