"""Two systems on the same units: one difference per unit, and how sure it is."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from scoring.stats.arguments import count, finite, level, part, t_of, z_of
from scoring.stats.rates import around
from scoring.stats.results import Estimate, Test

MAX_TABLE = 200_000_000
"""Cells of the table of sums that are still counted out; above that, permutations."""
PERMUTATIONS = 99_999
_CHUNK = 2_000_000
"""Signs drawn at once: 16 MB of sums."""
SPREAD_SLACK = 1e-14
"""Relative spread below which values are equal: what summing thirds in floats leaves behind."""


def tango(b: int, c: int, n: int, *, confidence: float = 0.95) -> Estimate | None:
    """Return the paired difference of two pass rates with its score interval.

    b, c: pairs only the new / only the old version passed (counts). n: all pairs.
    Value and limits are fractions in [-1, 1], positive when the new version is better.
    No discordant pair still has width: b = c = 0 gives +-z^2 / (n + z^2). n = 0 gives None.
    Raises ValueError if b + c > n or a count is negative.
    Source: Tango 1998, Statistics in Medicine 17:891, score interval.
    """
    b, c = count("b", b), count("c", c)
    _, n = part("b + c", b + c, "n", n)
    return tango_at(b, c, n, confidence=confidence)


def tango_at(b: float, c: float, n: float, *, confidence: float = 0.95) -> Estimate | None:
    """Return `tango` for real-valued counts: pairs that are worth fewer than they are.

    b, c, n: as `tango`, not necessarily whole. Errors and edges as there. Source: Tango 1998.
    """
    z2 = z_of(confidence) ** 2
    if n == 0:
        return None
    if b == c == 0:
        return Estimate(value=0.0, low=-z2 / (n + z2), high=z2 / (n + z2))
    if b == n:
        return Estimate(value=1.0, low=(n - z2) / (n + z2), high=1.0)
    if c == n:
        return Estimate(value=-1.0, low=-1.0, high=-(n - z2) / (n + z2))
    d = (b - c) / n
    return around(d, _tango_root(b, c, n, z2, -1.0, d), _tango_root(b, c, n, z2, d, 1.0))


def _tango_root(b: float, c: float, n: float, z2: float, start: float, end: float) -> float:
    """Return the D between `start` and `end` at which the score equals its limit."""
    from scipy import optimize

    def score(d: float) -> float:
        linear = -b - c + (2 * n - b + c) * d
        root = math.sqrt(max(0.0, linear**2 + 8 * n * c * d * (1 - d)))
        q = (root - linear) / (4 * n)
        return (b - c - n * d) ** 2 - z2 * n * max(0.0, 2 * q + d * (1 - d))

    return float(optimize.brentq(score, start, end, xtol=1e-15, rtol=1e-14))


def no_spread(values: Sequence[float]) -> bool:
    """Return whether all values are equal, up to the last bits of the arithmetic before."""
    low, high = min(values), max(values)
    return high - low <= SPREAD_SLACK * max(abs(low), abs(high))


def paired_mean(d: Iterable[float], *, confidence: float = 0.95) -> Estimate | None:
    """Return the mean of one difference per unit with Student's interval.

    d: differences, one per unit, any unit (the result has the same). No unit gives None; one
    unit has no interval (flag `one_unit`), equal differences neither (flag `no_spread`).
    Raises ValueError if a difference is not finite.
    Source: Student's t with n - 1 degrees; scipy.stats.ttest_1samp.
    """
    values = finite("d", d)
    level(confidence)
    n = len(values)
    if n == 0:
        return None
    mean = math.fsum(values) / n
    if n == 1:
        return Estimate(value=mean, flags=("one_unit",))
    if no_spread(values):
        return Estimate(value=mean, df=n - 1, flags=("no_spread",))
    from scipy import stats

    found = stats.ttest_1samp(values, 0.0)
    limits = found.confidence_interval(confidence)
    low, high = float(limits.low), float(limits.high)
    se = (high - low) / 2 / t_of(confidence, n - 1)
    return Estimate(value=mean, low=min(low, mean), high=max(high, mean), se=se, df=n - 1)


def t_test(d: Iterable[float]) -> Test | None:
    """Return Student's test of "the mean difference is 0".

    d: differences, one per unit. Fewer than two units or no spread give None.
    Raises ValueError if a difference is not finite.
    Source: Student 1908; scipy.stats.ttest_1samp.
    """
    values = finite("d", d)
    if len(values) < 2 or no_spread(values):
        return None
    from scipy import stats

    found = stats.ttest_1samp(values, 0.0)
    return Test(statistic=float(found.statistic), p=float(found.pvalue))


def whole_differences(d: Sequence[Fraction]) -> list[int] | None:
    """Return differences of pass rates as whole numbers, or None where they are too large.

    d: exact differences, one per task, such as Fraction(2, 3) - Fraction(1, 3). They are
    multiplied by the common multiple of their denominators and divided by what they share, so
    that `sign_flip` counts exactly. Many unequal numbers of trials have a multiple that no table
    of sums can hold: None above MAX_TABLE cells. No error.
    Source: c1/n1 - c2/n2 = (c1 m/n1 - c2 m/n2) / m.
    """
    scale = math.lcm(*(value.denominator for value in d))
    whole = [int(value * scale) for value in d]
    shared = math.gcd(*whole) or 1
    whole = [value // shared for value in whole]
    cells = sum(value != 0 for value in whole) * sum(abs(value) for value in whole)
    return whole if cells <= MAX_TABLE else None


def sign_flip(d: Iterable[float], *, seed: int = 0) -> float:
    """Return the two-sided p-value of "each difference could as well have the other sign".

    d: one difference per unit. Whole numbers are counted out exactly (2^m sign patterns by a
    table of reachable sums, m may be hundreds); others by 99,999 permutations from `seed`, or by
    all patterns where they are fewer.
    Result: p in [0, 1]; no difference at all gives 1.
    Raises ValueError if a difference is not finite.
    Source: Fisher 1935, The Design of Experiments, section 21.
    """
    values = [value for value in finite("d", d) if value != 0]
    if not values:
        return 1.0
    if all(value.is_integer() for value in values):
        whole = [int(value) for value in values]
        step = math.gcd(*whole)
        sizes = [abs(value) // step for value in whole]
        if len(sizes) * sum(sizes) <= MAX_TABLE:
            return _share_of_patterns(sizes, abs(sum(whole)) // step)
    return _permuted(values, seed)


def _share_of_patterns(sizes: Sequence[int], observed: int) -> float:
    """Return the share of sign patterns whose sum is at least `observed` on either side."""
    import numpy as np

    total = sum(sizes)
    chance = np.zeros(total + 1)  # of the sum of the positive ones; the sum is 2 * place - total
    chance[0] = 1.0
    reached = 1
    for size in sorted(sizes):
        moved = chance[:reached].copy()
        chance[size : size + reached] += moved
        reached += size
        chance[:reached] /= 2
    sums = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(chance[sums >= observed].sum()))


def _permuted(values: Sequence[float], seed: int) -> float:
    """Return the p-value from sign patterns: all of them where they are few, else random ones."""
    import numpy as np

    sizes = np.abs(np.asarray(values, dtype=np.float64))
    observed = abs(math.fsum(values))
    reached = observed - SPREAD_SLACK * float(sizes.sum())  # sums of floats in another order
    if 2 ** len(values) <= PERMUTATIONS:
        patterns = np.arange(2 ** len(values))[:, None] >> np.arange(len(values))
        sums = 2 * ((patterns & 1) @ sizes) - sizes.sum()
        return float((np.abs(sums) >= reached).mean())
    chance = np.random.default_rng(seed)
    at_least = 0
    width = -(-len(values) // 8)
    chunk = max(1, _CHUNK // len(values))
    for start in range(0, PERMUTATIONS, chunk):
        rows = min(chunk, PERMUTATIONS - start)
        drawn = np.frombuffer(chance.bytes(rows * width), dtype=np.uint8).reshape(rows, width)
        signs = np.unpackbits(drawn, axis=1, count=len(values))
        sums = 2 * (signs.astype(np.float64) @ sizes) - sizes.sum()
        at_least += int((np.abs(sums) >= reached).sum())
    return (at_least + 1) / (PERMUTATIONS + 1)  # the observed pattern is one of them


def sign_test(b: int, c: int) -> float:
    """Return the exact two-sided p-value of b better against c worse (exact McNemar).

    b, c: units better / worse (counts). b + c = 0 gives 1. Raises ValueError if negative.
    Source: binomial with 1/2; McNemar 1947, exact form.
    """
    b, c = count("b", b), count("c", c)
    if b + c == 0:
        return 1.0
    from scipy import stats

    return float(stats.binomtest(b, b + c).pvalue)


def mcnemar_midp(b: int, c: int) -> float:
    """Return the mid-p McNemar value. For display only; gates use intervals.

    b, c: discordant pairs (counts). b = c gives 1 - P(b)/2; b + c = 0 gives 1.
    Raises ValueError if a count is negative.
    Source: Fagerland, Lydersen & Laake 2013, BMC Med Res Methodol 13:91.
    """
    b, c = count("b", b), count("c", c)
    if b + c == 0:
        return 1.0
    from scipy import stats

    point = float(stats.binom.pmf(b, b + c, 0.5))
    return 1 - point / 2 if b == c else sign_test(b, c) - point


def mcnemar_chi2(b: int, c: int, *, continuity: bool = False) -> Test | None:
    """Return McNemar's chi-squared test. Only for comparison with other tools.

    b, c: discordant pairs (counts); continuity: with Edwards's correction. b + c = 0 gives None.
    Raises ValueError if a count is negative.
    Source: McNemar 1947, Psychometrika 12:153; Edwards 1948.
    """
    b, c = count("b", b), count("c", c)
    if b + c == 0:
        return None
    from scipy import stats

    distance = max(0, abs(b - c) - 1) if continuity else abs(b - c)
    statistic = distance**2 / (b + c)
    return Test(statistic=statistic, p=float(stats.chi2.sf(statistic, 1)))
