"""The beta distribution over the sizes that pages show: scipy's takes a third of a second to import.

Exact limits of shares, order statistics and Student's t all ask for it. Beyond the sizes of pages
scipy is asked.
"""

import math
from functools import lru_cache

LEAST, MOST = 1e-3, 1e7
"""Shapes between these are computed here; at MOST a quantile takes some 10 ms."""

_FEW = 30
_TINY = 1e-300
_CLOSE = 1e-16
_STIRLING = ((1 / 12), (-1 / 360), (1 / 1260), (-1 / 1680))


def below(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta I_x(a, b): the share of Beta(a, b) below x.

    a, b: shapes, > 0; x: in [0, 1]. Result: fraction, within 1e-9 of scipy's.
    No error of its own. Source: DLMF 8.17.22, the continued fraction, from the nearer end.
    """
    if not _covered(a, b):
        from scipy import special

        return float(special.betainc(a, b, x))
    return _below(a, b, x)


@lru_cache(maxsize=1024)
def quantile(a: float, b: float, p: float) -> float:
    """Return the x with I_x(a, b) = p.

    a, b: shapes, > 0; p: in (0, 1). Result: in [0, 1], within 1e-12 of scipy's, or with the same
    share below it.
    No error of its own. Source: Newton's method, halving wherever it leaves the bracket.
    """
    if not _covered(a, b):
        from scipy import special

        return float(special.betaincinv(a, b, p))
    return _quantile(a, b, p)


def student(p: float, df: float) -> float:
    """Return the quantile of Student's t: p in (0.5, 1), df > 0 degrees of freedom.

    Result: > 0, within 1e-9 of scipy's, relative. No error of its own.
    Source: t^2 / (df + t^2) is Beta(1/2, df/2).
    """
    if df < 1 or not _covered(df / 2):
        from scipy import special

        return float(special.stdtrit(df, p))
    if df < _FEW:  # the tail is long: its end is exact from the other side
        rest = _quantile(df / 2, 0.5, 2 * (1 - p))
        return math.sqrt(df * (1 - rest) / rest)
    share = _quantile(0.5, df / 2, 2 * p - 1)
    return math.sqrt(df * share / (1 - share))


def _covered(*shapes: float) -> bool:
    return all(LEAST <= shape <= MOST for shape in shapes)


def _below(a: float, b: float, x: float) -> float:
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x <= (a + 1) / (a + b + 2):
        return _density(a, b, x, 1 - x) * x * (1 - x) / a * _fraction(a, b, x)
    return 1 - _density(a, b, x, 1 - x) * x * (1 - x) / b * _fraction(b, a, 1 - x)


def _quantile(a: float, b: float, p: float) -> float:
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(200):
        over = _below(a, b, x) - p
        low, high = (low, x) if over > 0 else (x, high)
        slope = _density(a, b, x, 1 - x)
        step = over / slope if slope > 0 else math.inf
        following = x - step
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - x) <= 2e-16 * x or following in {low, high}:
            return following
        x = following
    return x


def _density(a: float, b: float, x: float, y: float) -> float:
    """Return the density of Beta(a, b) at x = 1 - y."""
    small, large, whole = min(a, b), max(a, b), a + b
    if small < 10:
        ends = math.lgamma(small) + _less(large, small)
        return math.exp((a - 1) * math.log(x) + (b - 1) * math.log(y) - ends)
    # Large logarithms cancel: they are taken of how far x lies from the mean.
    off = x * b - y * a
    far = a * math.log1p(off / a) + b * math.log1p(-off / b)
    rest = _correction(a) + _correction(b) - _correction(whole)
    return math.exp(far - rest) * math.sqrt(a * b / (2 * math.pi * whole)) / (x * y)


def _less(large: float, more: float) -> float:
    """Return ln gamma(large) - ln gamma(large + more)."""
    whole = large + more
    if large < 10:
        return math.lgamma(large) - math.lgamma(whole)
    rest = _correction(large) - _correction(whole)
    return rest + more - more * math.log(whole) + (large - 0.5) * math.log1p(-more / whole)


def _correction(shape: float) -> float:
    """Return what Stirling's formula leaves out of ln gamma, from 10 on."""
    return sum(part / shape ** (2 * place + 1) for place, part in enumerate(_STIRLING))


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of I_x(a, b), by Lentz' method."""
    c, d = 1.0, 1 / _kept(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for part in (even, odd):
            d = 1 / _kept(1 + part * d)
            c = _kept(1 + part / c)
            found *= c * d
        if abs(c * d - 1) < _CLOSE * 10:
            break
    return found


def _kept(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
