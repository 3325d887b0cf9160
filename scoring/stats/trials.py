"""Suites of k trials: what repeated attempts at the same tasks tell."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scoring.stats.arguments import count, number, part
from scoring.stats.paired import paired_mean
from scoring.stats.results import Estimate, Measure
from scoring.stats.shown import shown_measure

Task = tuple[int, int]
"""Valid trials n and passes c of one task."""


def pass_at(n: int, c: int, k: int) -> float:
    """Return the chance that at least one of k trials passes (pass@k), without bias.

    n: valid trials of the task, c: passes among them, k: trials asked for (counts). Result:
    probability, 1 - C(n-c, k)/C(n, k). Raises ValueError if c > n, k > n or k < 1.
    Source: Chen et al. 2021, arXiv 2107.03374.
    """
    n, c, k = _checked(n, c, k)
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat(n: int, c: int, k: int) -> float:
    """Return the chance that all of k trials pass (pass^k), without bias.

    n, c, k: as `pass_at`. Result: probability, C(c, k)/C(n, k).
    Raises ValueError if c > n, k > n or k < 1. Source: Yao et al. 2024, arXiv 2406.12045.
    """
    n, c, k = _checked(n, c, k)
    return math.comb(c, k) / math.comb(n, k)


def _checked(n: int, c: int, k: int) -> tuple[int, int, int]:
    """Return whole numbers with c <= n and 1 <= k <= n."""
    c, n = part("c", c, "n", n)
    k = count("k", k)
    if not 1 <= k <= n:
        raise ValueError(f"k must lie between 1 and n = {n}, not {k}")
    return n, c, k


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRate:
    """A mean over tasks, and the tasks that had too few trials for it."""

    measure: Measure
    too_few: Sequence[str]


def suite_pass_at(
    tasks: Mapping[str, Task],
    k: int,
    *,
    task_of: Mapping[str, str] | None = None,
    confidence: float = 0.95,
) -> SuiteRate:
    """Return pass@k of a suite: the mean over tasks, with t over tasks.

    tasks: name to (n valid trials, c passes); task_of: name to task, where several cases make
    one task (they are averaged first). Those with n < k are left out, counted in `excluded` and
    listed. No task left: value None. One task, or equal tasks: no limits.
    Limits are clipped to [0, 1] (flag `clipped`). Raises ValueError if c > n or k < 1.
    Source: Chen et al. 2021; SE = sd over tasks / sqrt(T), Miller 2024, arXiv 2411.00640.
    """
    return _suite(tasks, k, pass_at, "pass@k", task_of or {}, confidence)


def suite_pass_hat(
    tasks: Mapping[str, Task],
    k: int,
    *,
    task_of: Mapping[str, str] | None = None,
    confidence: float = 0.95,
) -> SuiteRate:
    """Return pass^k of a suite: the mean over tasks, with t over tasks.

    Arguments, edges and errors as `suite_pass_at`.
    Source: Yao et al. 2024; SE = sd over tasks / sqrt(T).
    """
    return _suite(tasks, k, pass_hat, "pass^k", task_of or {}, confidence)


def _suite(
    tasks: Mapping[str, Task],
    k: int,
    of_task: Callable[[int, int, int], float],
    method: str,
    task_of: Mapping[str, str],
    confidence: float,
) -> SuiteRate:
    """Return the mean of a per-task number over the tasks with enough trials."""
    for n, c in tasks.values():
        part("c", c, "n", n)
    if count("k", k) < 1:
        raise ValueError("k must be at least 1")
    by_task: dict[str, list[float]] = {}
    for name, (n, c) in tasks.items():
        if n >= k:
            by_task.setdefault(task_of.get(name, name), []).append(of_task(n, c, k))
    means = [math.fsum(cases) / len(cases) for cases in by_task.values()]
    mean = paired_mean(means, confidence=confidence)
    too_few = tuple(name for name, (n, _) in tasks.items() if n < k)
    measure = shown_measure(
        clipped(mean),
        n=len(means),
        unit="task",
        method=f"{method}, t over tasks",
        scale="rate",
        excluded={"too_few_trials": len(too_few)} if too_few else {},
        confidence=confidence,
    )
    return SuiteRate(measure=measure, too_few=too_few)


def clipped(found: Estimate | None) -> Estimate | None:
    """Return a mean of rates with its limits inside [0, 1], flagged if they were not.

    No error; None stays None. Source: a rate lies between 0 and 1.
    """
    if found is None or found.low is None or found.high is None:
        return found
    low, high = max(0.0, found.low), min(1.0, found.high)
    moved = (low, high) != (found.low, found.high)
    flags = (*found.flags, "clipped") if moved else found.flags
    return Estimate(value=found.value, low=low, high=high, se=found.se, df=found.df, flags=flags)


def icc(tasks: Iterable[Task]) -> float | None:
    """Return the intraclass correlation of trials within a task.

    tasks: (n trials, c passes) each; tasks without a trial are left out. Result: at most 1, may
    be negative. Fewer than two tasks, no task with two trials, or no variation: None.
    Raises ValueError if c > n. Source: one-way analysis of variance, Fisher 1925.
    """
    used = [part("c", c, "n", n) for n, c in tasks if n > 0]
    t, total = len(used), sum(n for _, n in used)
    if t < 2 or total == t:
        return None
    overall = sum(c for c, _ in used) / total
    between = math.fsum(n * (c / n - overall) ** 2 for c, n in used) / (t - 1)
    within = math.fsum(c * (n - c) / n for c, n in used) / (total - t)
    usual = (total - sum(n * n for _, n in used) / total) / (t - 1)
    below = between + (usual - 1) * within
    return None if below <= 1e-15 else (between - within) / below


def design_effect(n: float, correlation: float) -> float:
    """Return how many times more variance n trials per task have than n independent ones.

    n: trials per task (>= 1, a mean is allowed); correlation: ICC. Result: 1 + (n - 1) ICC, at
    least 0. Raises ValueError if n < 1 or a number is not finite. Source: Kish 1965, section 5.4.
    """
    if number("n", n) < 1:
        raise ValueError(f"n must be at least 1, not {n!r}")
    return max(0.0, 1 + (n - 1) * number("correlation", correlation))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVariance:
    """How much one task's result scatters."""

    p: float
    single_trial: float
    """Variance of one trial, c(n-c)/(n(n-1))."""
    mean: float
    """Variance of the task's pass rate."""


def task_variance(n: int, c: int) -> TaskVariance | None:
    """Return the unbiased variance of one trial and of the pass rate of a task.

    n: trials, c: passes (counts). Fewer than two trials give None. Raises ValueError if c > n.
    Source: sample variance of zeros and ones.
    """
    c, n = part("c", c, "n", n)
    if n < 2:
        return None
    variance = c * (n - c) / (n * (n - 1))
    return TaskVariance(p=c / n, single_trial=variance, mean=variance / n)


def histogram(passes: Iterable[int], k: int) -> list[int]:
    """Return how many tasks have 0, 1, … k passes.

    passes: passes of each task, k: trials per task (counts). Raises ValueError if a task has
    more passes than k. Source: a count.
    """
    seen = Counter(part("passes", c, "k", k)[0] for c in passes)
    return [seen[place] for place in range(count("k", k) + 1)]
