"""Adjudicated correctness: everything was compared, only part of it was judged by a person."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.stats.arguments import count, level, part
from scoring.stats.paired import tango
from scoring.stats.results import Estimate
from scoring.stats.weighted import (
    Stratum,
    degrees,
    korn_graubard,
    rate_stratum,
    student,
    worth_of,
)


def two_phase(strata: Sequence[Stratum], *, confidence: float = 0.95) -> Estimate | None:
    """Return the share that is right among all pairs, from judged samples per stratum.

    strata: agreements, disagreements, or finer, each from `rate_stratum(pairs, judged, right)`.
    Result: fractions with Korn-Graubard limits, df = judged - strata; without spread at the size
    that the judged pairs are worth (Kish). No pair gives None.
    Raises ValueError if a mean is no rate (strata refuse fewer than two judged on their own).
    Source: Cochran, Sampling Techniques, 12.2 (double sampling); R survey::twophase.
    """
    level(confidence)
    value, variance = two_phase_moments(strata)
    if value is None:
        return None
    judged = sum(stratum.n for stratum in strata)
    return korn_graubard(
        min(1.0, value),
        variance,
        judged,
        degrees(strata),
        worth=worth_of(strata),
        confidence=confidence,
    )


def two_phase_moments(strata: Sequence[Stratum]) -> tuple[float | None, float]:
    """Return the two-phase mean and its variance; None without a pair.

    V = sum w s^2 / N (N_h/n_h - 1) + [sum w (mean_h - mean)^2 + sum w s^2] / N.
    """
    total = sum(stratum.size for stratum in strata)
    if total == 0:
        return None, 0.0
    filled = [(stratum, stratum.size / total) for stratum in strata if stratum.n > 0]
    value = math.fsum(w * stratum.mean for stratum, w in filled)
    sampled = math.fsum(w * s.variance * (s.size / s.n - 1) for s, w in filled)
    between = math.fsum(w * ((s.mean - value) ** 2 + s.variance) for s, w in filled)
    return value, (sampled + between) / total


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreements:
    """Pairs on which the two sides differ, and what people found in those they judged."""

    size: int
    judged: int
    first_only: int
    """Judged pairs only the first side (the new version, the agent) had right."""
    second_only: int

    def __post_init__(self) -> None:
        part("judged", self.judged, "size", self.size)
        one_right = count("first_only", self.first_only) + count("second_only", self.second_only)
        part("first_only + second_only", one_right, "judged", self.judged)

    def stratum(self) -> Stratum:
        """Return mean and variance of d in {-1, 0, 1} over the judged pairs."""
        n = self.judged
        mean = (self.first_only - self.second_only) / n if n else 0.0
        second = (self.first_only + self.second_only) / n if n else 0.0
        variance = n / (n - 1) * (second - mean**2) if n > 1 else 0.0
        return Stratum(size=self.size, n=n, mean=mean, variance=max(0.0, variance))


def two_phase_difference(
    agreed: int, disagreed: Sequence[Disagreements], *, confidence: float = 0.95
) -> Estimate | None:
    """Return the difference in correctness, first side minus second, over all pairs.

    agreed: pairs on which both said the same (count; they add 0 and need no label); disagreed:
    one entry, or one per finer stratum. All disagreements judged: Tango's interval, and
    se = sqrt((b + c - (b - c)^2/n) / (n (n - 1))). Only a sample: two-phase variance and t with
    judged - strata degrees. Result: fraction in [-1, 1]. No pair gives None.
    Raises ValueError if fewer than two of a larger stratum were judged: judge more, or merge.
    Source: Tango 1998; Cochran 12.2.
    """
    level(confidence)
    n = count("agreed", agreed) + sum(stratum.size for stratum in disagreed)
    if n == 0:
        return None
    if all(stratum.judged == stratum.size for stratum in disagreed):
        b = sum(stratum.first_only for stratum in disagreed)
        c = sum(stratum.second_only for stratum in disagreed)
        return _all_judged(b, c, n, confidence)
    strata = [stratum.stratum() for stratum in disagreed]
    same = Stratum(size=agreed, n=agreed, mean=0.0, variance=0.0)
    value, variance = two_phase_moments([same, *strata])
    found = student(value or 0.0, variance, degrees(strata), confidence)
    return Estimate(
        value=found.value,
        low=None if found.low is None else max(-1.0, found.low),
        high=None if found.high is None else min(1.0, found.high),
        se=found.se,
        df=found.df,
        flags=found.flags,
    )


def _all_judged(b: int, c: int, n: int, confidence: float) -> Estimate | None:
    """Return Tango's difference with the plain standard error beside it."""
    found = tango(b, c, n, confidence=confidence)
    if found is None or n < 2:
        return found
    se = math.sqrt((b + c - (b - c) ** 2 / n) / (n * (n - 1)))
    return Estimate(value=found.value, low=found.low, high=found.high, se=se)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """A difference with every unclear pair given to one side, then to the other."""

    for_first: Estimate | None
    for_second: Estimate | None
    """The worse one for the first side: what a gate looks at."""


def unclear_difference(
    b: int, c: int, unclear: int, n: int, *, confidence: float = 0.95
) -> Unclear:
    """Return the paired difference with unclear pairs counted for either side.

    b, c: pairs only the first / only the second had right; unclear: judged without an answer;
    n: all pairs (counts). Nothing is dropped. n = 0 gives None on both sides.
    Raises ValueError if b + c + unclear > n or a count is negative.
    Source: worst and best case around Tango 1998.
    """
    u = count("unclear", unclear)
    part("b + c + unclear", b + c + u, "n", n)
    return Unclear(
        for_first=tango(b + u, c, n, confidence=confidence),
        for_second=tango(b, c + u, n, confidence=confidence),
    )


def unclear_levels(
    sizes: Sequence[tuple[int, int, int, int]], *, confidence: float = 0.95
) -> tuple[Estimate | None, Estimate | None]:
    """Return the share that is right with all unclear pairs wrong, then with all of them right.

    sizes: (pairs, judged, right, unclear) per stratum (counts). Edges and errors: `two_phase`.
    Source: worst and best case.
    """
    worst = [rate_stratum(size, n, x) for size, n, x, _ in sizes]
    best = [rate_stratum(size, n, x + count("unclear", u)) for size, n, x, u in sizes]
    return two_phase(worst, confidence=confidence), two_phase(best, confidence=confidence)
