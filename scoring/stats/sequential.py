"""Looking more than once: planned looks, and intervals that hold at any time."""

import math
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from scoring.stats.arguments import count, inner_share, number, shares, z_of
from scoring.stats.planning import look_confidence
from scoring.stats.results import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HALF_GRID = 801
"""Points from 0 to the limit, of 1,601 on both sides; odd, for Simpson's rule."""
MOST_LOOKS = 5
"""More planned looks than this cost more than they give; use a sequence."""


def crossing_probability(z: float, looks: int) -> float:
    """Return the chance that any of several equally spaced looks exceeds a limit, without effect.

    z: limit of |Z| at each look (> 0); looks: count, at least 1. Result: probability; five looks
    at 1.96 give .142. Raises ValueError if z is not positive or looks is 0.
    Source: Armitage, McPherson & Rowe 1969, JRSS A 132:235, recursive integration.
    """
    z, k = number("z", z, above=0), count("looks", looks)
    if k < 1:
        raise ValueError("looks must be at least 1")
    import numpy as np

    simpson = np.ones(HALF_GRID)
    simpson[1:-1:2], simpson[2:-1:2] = 4.0, 2.0
    sums = np.linspace(0.0, z, HALF_GRID)  # Z_k sqrt(k) is symmetric: half of the grid is enough
    inside = _normal(sums)
    for look in range(2, k + 1):
        weighted = inside * simpson * (sums[1] / 3)
        then = np.linspace(0.0, z * math.sqrt(look), HALF_GRID)
        apart = then[:, None] - sums[None, :]
        inside = (_normal(apart) + _normal(then[:, None] + sums[None, :])) @ weighted
        sums = then
    kept = 2 * float((inside * simpson).sum()) * float(sums[1]) / 3
    return min(1.0, max(0.0, 1 - kept))


def _normal(x: "Floats") -> "Floats":
    """Return the standard normal density."""
    import numpy as np

    return np.asarray(np.exp(x * x * -0.5) / math.sqrt(2 * math.pi))


@lru_cache(maxsize=64)
def pocock(looks: int, alpha: float = 0.05) -> float:
    """Return the limit of |Z| that keeps the error over all planned looks at alpha.

    looks: count, at least 1; alpha: two-sided, in (0, .5). Result: 1.960, 2.178, 2.289, 2.361,
    2.413 for 1 to 5 looks. Raises ValueError if looks is 0 or alpha outside (0, .5).
    Source: Pocock 1977, Biometrika 64:191; root of `crossing_probability`.
    """
    from scipy import optimize

    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha must lie in (0, 0.5), not {alpha!r}")
    k = count("looks", looks)
    one, many = z_of(1 - alpha), z_of(1 - alpha / max(1, k))  # one look, and Bonferroni
    if k < 2:
        crossing_probability(one, k)  # refuses 0 looks
        return one
    return float(
        optimize.brentq(lambda z: crossing_probability(z, k) - alpha, one, many, xtol=1e-9)
    )


def pocock_confidence(looks: int, alpha: float = 0.05) -> float:
    """Return the confidence at which each of several planned looks takes its interval.

    looks, alpha: as `pocock`. Result: .950 for one look, .971 for two; hand it to `tango` and
    the like. Raises ValueError as `pocock`. Source: Pocock 1977.
    """
    return look_confidence(pocock(looks, alpha))


def beta_sequence(
    s: int, f: int, alpha: float = 0.05, a: float = 0.5, b: float = 0.5
) -> Estimate | None:
    """Return a rate with an interval that holds at all times together.

    s, f: successes and failures so far (counts); alpha: in (0, 1); a, b: of the mixing beta, > 0.
    Result: fractions; the interval may be looked at after every unit. s = 0 has low 0, f = 0 has
    high 1. No unit gives None.
    Raises ValueError if a count is negative or alpha outside (0, 1).
    Source: Robbins 1970, mixture likelihood ratio B(a+s, b+f) / (B(a,b) p^s (1-p)^f) < 1/alpha.
    """
    s, f, alpha = count("s", s), count("f", f), inner_share("alpha", alpha)
    a, b = number("a", a, above=0), number("b", b, above=0)
    n = s + f
    if n == 0:
        return None
    from scipy import special

    mixed = float(special.betaln(a + s, b + f) - special.betaln(a, b)) + math.log(alpha)
    if s == 0:
        return Estimate(value=0.0, low=0.0, high=-math.expm1(mixed / n))
    if f == 0:
        return Estimate(value=1.0, low=math.exp(mixed / n), high=1.0)
    value = s / n

    def over(p: float) -> float:
        return mixed - s * math.log(p) - f * math.log1p(-p)

    low = _root(over, value, towards=0.0)
    return Estimate(value=value, low=low, high=_root(over, value, towards=1.0))


def _root(over: Callable[[float], float], inside: float, *, towards: float) -> float:
    """Return where `over` turns positive between a point inside the set and 0 or 1."""
    from scipy import optimize

    outside = (inside + towards) / 2
    while over(outside) < 0:
        inside, outside = outside, (outside + towards) / 2
        if outside in {0.0, 1.0}:
            return towards
    return float(optimize.brentq(over, min(inside, outside), max(inside, outside), xtol=1e-15))


def e_greater(s: int, f: int, p0: float, a: float = 1.0, b: float = 1.0) -> float:
    """Return the evidence against "the rate is at most p0"; reject at 1/alpha, at any time.

    s, f: events and non-events so far (counts); p0: in (0, 1); a, b: of the mixing beta on
    (p0, 1), > 0. Result: e-value >= 0, at most the largest float; no unit gives 1.
    Raises ValueError if a count is negative or p0 outside (0, 1).
    Source: Robbins 1970; mixture over (p0, 1), computed in logarithms.
    """
    s, f, p0 = count("s", s), count("f", f), inner_share("p0", p0)
    a, b = number("a", a, above=0), number("b", b, above=0)
    if s + f == 0:
        return 1.0
    from scipy import special

    above = float(special.betaincc(a + s, b + f, p0))
    prior = float(special.betaincc(a, b, p0))
    if above == 0:
        return 0.0
    if prior == 0:
        raise ValueError(f"p0 = {p0!r} leaves the mixing beta no room above it")
    log_e = (
        float(special.betaln(a + s, b + f) - special.betaln(a, b))
        + math.log(above)
        - math.log(prior)
        - s * math.log(p0)
        - f * math.log1p(-p0)
    )
    return math.exp(min(log_e, math.log(sys.float_info.max)))


def e_less(s: int, f: int, p0: float, a: float = 1.0, b: float = 1.0) -> float:
    """Return the evidence against "the rate is at least p0"; reject at 1/alpha, at any time.

    Arguments, result and errors as `e_greater`, with events and non-events swapped.
    Source: Robbins 1970.
    """
    return e_greater(f, s, 1 - inner_share("p0", p0), b, a)


def bernstein_sequence(x: Iterable[float], alpha: float = 0.05, c: float = 0.5) -> Estimate | None:
    """Return the mean of scores in [0, 1] with an interval that holds at all times together.

    x: scores in order of arrival (for a difference d hand in (d+1)/2); alpha: in (0, 1); c:
    largest bet, in (0, 1). Result: the bet-weighted mean, moved into the running intersection of
    the intervals. An empty intersection (the mean moved): no limits, flag `empty`. No score: None.
    Raises ValueError if a score is outside [0, 1].
    Source: Waudby-Smith & Ramdas 2024, JRSS B 86:1, theorem 2 (predictable plug-in).
    """
    scores, alpha, c = shares("x", x), inner_share("alpha", alpha), inner_share("c", c)
    if not scores:
        return None
    price = math.log(2 / alpha)
    mean, variance = 0.5, 0.25
    total, squares = 0.5, 0.25
    bets = bet_scores = cost = 0.0
    low, high = 0.0, 1.0
    for t, score in enumerate(scores, start=1):
        bet = min(c, math.sqrt(2 * price / (variance * t * math.log1p(t))))
        bets += bet
        bet_scores += bet * score
        cost += (score - mean) ** 2 * (-math.log1p(-bet) - bet)
        reach = (price + cost) / bets
        low = max(low, bet_scores / bets - reach)
        high = min(high, bet_scores / bets + reach)
        total += score
        mean = total / (t + 1)
        squares += (score - mean) ** 2
        variance = squares / (t + 1)
    value = bet_scores / bets
    if low > high:
        return Estimate(value=value, flags=("empty",))
    return Estimate(value=min(high, max(low, value)), low=low, high=high)
