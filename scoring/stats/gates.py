"""PASS, FAIL or NOT ENOUGH DATA: the rule is fixed and hashed before the first pair is read."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from scoring.stats.arguments import count, inner_share, level, number
from scoring.stats.planning import look_sizes
from scoring.stats.rates import runs_for_zero, zero_event_upper
from scoring.stats.results import Estimate, Shown
from scoring.stats.sequential import MOST_LOOKS, pocock_confidence


class Verdict(StrEnum):
    """What a check or a gate says."""

    PASS = "PASS"  # noqa: S105 - a verdict
    FAIL = "FAIL"
    NOT_ENOUGH_DATA = "NOT ENOUGH DATA"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A verdict and why."""

    verdict: Verdict
    reason: str
    missing: int = 0
    """Units still needed before the next look; 0 where no number of units is asked for."""
    bound: float | None = None
    """Upper bound of a rate of which nothing was seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A decision rule, written before the first pair is read. A changed rule is another one."""

    measure: str
    kind: str
    """non_inferiority, superiority, floor, budget or invariant."""
    limit: float
    """Margin, floor, budget or bound, in the unit of the measure."""
    planned: int
    """Units at the final look."""
    looks: int = 1
    confidence: float = 0.95
    trials: int | None = None
    """Runs of a unit on each side that count, the first so many; None: all."""
    scope: Mapping[str, str] = field(default_factory=dict)
    """Agent, environment and origin of the runs that count; '' is all."""
    unit: str = ""
    """What one unit is: the key of a task or of a cluster, else a run."""
    clusters: str = ""
    """The key in whose values units come, where they do."""
    slices: Mapping[str, str] = field(default_factory=dict)
    mix: str = ""
    """The slice inside which the versions are compared; '' where none is."""
    violations: str = "none_new"
    """`none_new`, or `not_judged` where nobody needs to know of them."""
    graders: Sequence[str] = ()
    """Who says what passes and what breaks a rule, each with its version."""

    def __post_init__(self) -> None:
        number("limit", self.limit)
        level(self.confidence)
        if not 1 <= self.looks <= MOST_LOOKS:
            raise ValueError(f"looks must lie between 1 and {MOST_LOOKS}, not {self.looks!r}")
        look_sizes(self.planned, self.looks)

    def canonical(self) -> str:
        """Return every field as JSON: equal rules, equal text."""
        said = asdict(self)
        if not self.mix:
            del said[
                "mix"
            ]  # a rule that takes out no mix keeps the name it had before there was one
        return json.dumps(said, sort_keys=True, separators=(",", ":"))

    def digest(self) -> str:
        """Return the SHA-256 of the rule as canonical JSON."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def look_confidence(self) -> float:
        """Return the confidence of the interval at each look, widened for their number."""
        if self.looks == 1:
            return self.confidence
        return pocock_confidence(self.looks, round(1 - self.confidence, 12))


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How far a comparison is: units judged of units planned, and planned looks.

    More units than planned are never tested: a look is on the first so many, in time order.
    """

    n: int
    planned: int
    looks: int = 1

    def __post_init__(self) -> None:
        count("n", self.n)
        look_sizes(self.planned, self.looks)
        if self.n > self.planned:
            raise ValueError(f"n is {self.n} of {self.planned} planned: take the first of them")

    @property
    def final(self) -> bool:
        """Whether all planned units are there."""
        return self.n == self.planned

    @property
    def due(self) -> bool:
        """Whether this is the moment of a planned look, and not in between."""
        return self.n in look_sizes(self.planned, self.looks)

    @property
    def missing(self) -> int:
        """Units until the next planned look; 0 at the end."""
        ahead = [size for size in look_sizes(self.planned, self.looks) if size > self.n]
        return ahead[0] - self.n if ahead else 0


Interval = Estimate | Shown


def non_inferiority(found: Interval | None, margin: float, look: Look) -> Decision:
    """Return whether the new side is not worse than the old by the margin or more.

    found: new minus old with its interval, taken at the look's confidence over the first
    `look.n` units; margin: > 0, same unit; look: how far the comparison is.
    PASS: low > -margin. FAIL: high < -margin (`shown worse`), or no pass at the final look
    (`not shown`). Between looks, or without an interval: NOT ENOUGH DATA with the missing units.
    Raises ValueError if the margin is not positive. Source: statistics of one-sided limits.
    """
    return _above(found, -number("margin", margin, above=0), look, strict=True)


def superiority(found: Interval | None, look: Look) -> Decision:
    """Return whether the new side is better than the old.

    found, look: as `non_inferiority`. PASS: low > 0. FAIL: high < 0 (`shown worse`), or no pass
    at the final look (`not shown`). No error of its own. Source: one-sided limit against 0.
    """
    return _above(found, 0.0, look, strict=True)


def floor(found: Interval | None, least: float, look: Look) -> Decision:
    """Return whether a level is at or above its floor.

    found: the level with its interval; least: the floor, same unit; look: as `non_inferiority`.
    PASS: low >= least. FAIL: high < least (`shown worse`), or no pass at the final look.
    Raises ValueError if the floor is not finite. Source: one-sided lower limit.
    """
    return _above(found, number("least", least), look, strict=False)


def budget(
    found: Interval | None, most: float, look: Look, *, after: Sequence[Decision]
) -> Decision:
    """Return whether a cost or time stays within its budget, once outcome and policy pass.

    found: the amount with its interval; most: the budget, same unit; after: the decisions on
    outcome and policy. PASS: high <= most. FAIL: low > most (`shown worse`), or no pass at the
    final look. While one of `after` has not passed: NOT ENOUGH DATA.
    Raises ValueError if the budget is not finite. Source: one-sided upper limit.
    """
    most = number("most", most)
    if any(decision.verdict is not Verdict.PASS for decision in after):
        return Decision(
            verdict=Verdict.NOT_ENOUGH_DATA, reason="outcome and policy have not passed"
        )
    if found is None or found.low is None or found.high is None:
        return _above(None, -most, look, strict=False)
    middle = found.high if found.value is None else found.value
    mirrored = Estimate(value=-middle, low=-found.high, high=-found.low)
    return _above(mirrored, -most, look, strict=False)


def _above(found: Interval | None, limit: float, look: Look, *, strict: bool) -> Decision:
    """Return the verdict on "the truth lies above `limit`"."""
    if not look.due:
        return Decision(
            verdict=Verdict.NOT_ENOUGH_DATA, reason="no planned look", missing=look.missing
        )
    if found is None or found.low is None or found.high is None:
        return Decision(verdict=Verdict.NOT_ENOUGH_DATA, reason="no interval", missing=look.missing)
    if found.low > limit or (not strict and found.low == limit):
        return Decision(verdict=Verdict.PASS, reason="shown")
    if found.high < limit:
        return Decision(verdict=Verdict.FAIL, reason="shown worse")
    if look.final:
        return Decision(verdict=Verdict.FAIL, reason="not shown")
    return Decision(verdict=Verdict.NOT_ENOUGH_DATA, reason="not shown yet", missing=look.missing)


def invariant(violations: int, n: int, bound: float, *, confidence: float = 0.95) -> Decision:
    """Return the verdict on a rule that must hold in every run.

    violations, n: counts, n of independent units (customers, where runs come in clusters);
    bound: the rate that must be excluded, in (0, 1). One violation: FAIL. None: PASS once the
    exact one-sided upper bound is at or under `bound`, else NOT ENOUGH DATA with the missing
    units. The bound reached is in the answer.
    Raises ValueError if a count is negative or the bound outside (0, 1).
    Source: Hanley & Lippman-Hand 1983.
    """
    seen, units, wanted = (
        count("violations", violations),
        count("n", n),
        inner_share("bound", bound),
    )
    if seen > 0:
        return Decision(verdict=Verdict.FAIL, reason="violated")
    reached = zero_event_upper(units, confidence=confidence)
    missing = runs_for_zero(wanted, confidence=confidence) - units
    if missing <= 0:
        return Decision(verdict=Verdict.PASS, reason="none seen", bound=reached)
    return Decision(
        verdict=Verdict.NOT_ENOUGH_DATA, reason="none seen yet", missing=missing, bound=reached
    )


def joint(decisions: Sequence[Decision]) -> Decision:
    """Return the verdict on all checks together.

    FAIL if any fails, NOT ENOUGH DATA if none fails and any lacks data (or there is no check),
    else PASS. Needs no correction for their number: each at alpha keeps the risk of a false
    launch at alpha or less. No error. Source: intersection-union test, Berger 1982.
    """
    for verdict in (Verdict.FAIL, Verdict.NOT_ENOUGH_DATA):
        held = [decision for decision in decisions if decision.verdict is verdict]
        if held:
            reason = ", ".join(dict.fromkeys(decision.reason for decision in held))
            missing = max(decision.missing for decision in held)
            return Decision(verdict=verdict, reason=reason, missing=missing)
    if not decisions:
        return Decision(verdict=Verdict.NOT_ENOUGH_DATA, reason="no check")
    return Decision(verdict=Verdict.PASS, reason="all pass")
