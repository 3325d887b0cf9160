"""Whether one stretch of time stands out from the whole, though many stretches were looked at."""

import math

LEAST = 30
"""From so many units on, the interval that is drawn decides; under it the exact tail does."""


def surely_above(x: int, n: int, share: float, *, looks: int, confidence: float = 0.95) -> bool:
    """Return whether x of n is more than chance makes of a share, in any of so many looks.

    x of n units (counts), share: fraction, looks: stretches that were looked at (Bonferroni).
    Raises ValueError unless 0 <= x <= n and looks >= 1.
    Source: exact binomial tail, which is what Clopper & Pearson 1934 invert. Wilson's interval is
    too narrow here: corrected for 24 looks, that of 1 of 1 begins at 9 %.
    """
    if not 0 <= x <= n or looks < 1:
        raise ValueError(f"{x} of {n} units in {looks} looks")
    if n == 0:
        return False
    tail = math.fsum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(x, n + 1))
    return tail < (1 - confidence) / 2 / looks


def surely_below(x: int, n: int, share: float, *, looks: int, confidence: float = 0.95) -> bool:
    """Return whether x of n is less than chance makes of a share; as `surely_above`."""
    return surely_above(n - x, n, 1 - share, looks=looks, confidence=confidence)
