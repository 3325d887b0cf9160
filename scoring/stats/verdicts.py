"""What the trials of a suite count as, and what is odd about a task."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scoring.stats.arguments import part
from scoring.stats.rates import open_bounds
from scoring.stats.results import Estimate

MOST_REMOVED = 0.10
"""Share of trials lost to infrastructure above which a suite has no verdict."""


class TrialVerdict(StrEnum):
    """What one trial came to; the first that matches, in this order."""

    INFRA_ERROR = "infra_error"
    UNSCORABLE = "unscorable"
    TAMPERED = "tampered"
    ABORTED = "aborted"
    CONTAMINATED = "contaminated"
    FAIL = "fail"
    NEEDS_REVIEW = "needs_review"
    PASS = "pass"  # noqa: S105 - a verdict


REMOVED = frozenset({TrialVerdict.INFRA_ERROR, TrialVerdict.UNSCORABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Trials by what they count as."""

    n: int
    """Valid trials, the open ones included."""
    passed: int
    open: int
    excluded: Mapping[str, int]
    bounds: Estimate | None
    """What the pass rate can still become; decided when nothing is open."""
    verdict_possible: bool
    """False when infrastructure took more than 10 % of the trials, or there is no valid one."""


def tally(verdicts: Iterable[TrialVerdict]) -> Tally:
    """Return what trials count as, after the one repeat that infrastructure failures get.

    Tampered, aborted and contaminated are failures; unscorable and infra_error are removed and
    counted; needs_review is open. No trial: no bounds, no verdict. No error.
    Source: the house's rule; nothing is retried until it passes.
    """
    seen = Counter(verdicts)
    excluded = {verdict.value: seen[verdict] for verdict in sorted(REMOVED) if seen[verdict]}
    removed, everything = sum(excluded.values()), sum(seen.values())
    n, passed, undecided = (
        everything - removed,
        seen[TrialVerdict.PASS],
        seen[TrialVerdict.NEEDS_REVIEW],
    )
    return Tally(
        n=n,
        passed=passed,
        open=undecided,
        excluded=excluded,
        bounds=open_bounds(passed, n, undecided),
        verdict_possible=n > 0 and removed <= MOST_REMOVED * everything,
    )


def task_flags(history: Sequence[tuple[str, int, int]]) -> tuple[str, ...]:
    """Return what is odd about a task: `never_solved`, `always_solved`, `changed_alone`.

    history: (manifest hash, trials, passes) per report, all versions. `changed_alone`: under one
    manifest a report in which every trial passed and one in which none did (look at the
    harness). No trial gives no flag. Raises ValueError if passes exceed trials.
    Source: the house's rule.
    """
    seen = [(name, *part("passes", c, "trials", n)) for name, n, c in history if n > 0]
    if not seen:
        return ()
    flags = []
    if all(c == 0 for _, c, _ in seen):
        flags.append("never_solved")
    if all(c == n for _, c, n in seen):
        flags.append("always_solved")
    always = {name for name, c, n in seen if c == n}
    if always & {name for name, c, _ in seen if c == 0}:
        flags.append("changed_alone")
    return tuple(flags)
