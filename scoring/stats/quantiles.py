"""Quantiles by nearest rank, their intervals, and the bootstrap for what has no formula."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from scoring.stats.arguments import finite, inner_share, level
from scoring.stats.results import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Unit = TypeVar("Unit")

RANK_SLACK = 1e-12
LEAST_UNITS = 30
"""Under this many units the percentile bootstrap covers 85 to 91 % and is refused."""
RESAMPLES = 9_999


def quantile(x: Iterable[float], q: float) -> float | None:
    """Return the nearest-rank quantile: the value at rank ceil(q n), counted from 1.

    x: values in any unit (the result has the same); q: fraction in (0, 1). Always one of the
    values: the p90 of 1..9 and 100 is 9. No value gives None.
    Raises ValueError if a value is not finite or q is outside (0, 1).
    Source: Hyndman & Fan 1996, definition 1.
    """
    values = sorted(finite("x", x))
    q = inner_share("q", q)
    if not values:
        return None
    rank = math.ceil(q * len(values) - RANK_SLACK)
    return values[max(1, rank) - 1]


def quantile_interval(x: Iterable[float], q: float, *, confidence: float = 0.95) -> Estimate | None:
    """Return the nearest-rank quantile with its order-statistic interval.

    x: values in any unit; q: fraction in (0, 1). A limit that no rank reaches is None, flagged
    `no_lower` or `no_upper`: the p90 has no upper limit under n = 36, so print ">= low".
    No value gives None. Raises ValueError if a value is not finite or q is outside (0, 1).
    Source: Conover 1999, section 3.2. Equals scipy.stats.quantile_test.
    """
    values = finite("x", x)
    level(confidence)
    value = quantile(values, q)
    if value is None:
        return None
    ranks = _ranks(len(values), q, (1 - confidence) / 2)
    ordered = sorted(values)
    low, high = (None if rank is None else ordered[rank - 1] for rank in ranks)
    ends = (("no_lower", low), ("no_upper", high))
    flags = tuple(flag for flag, limit in ends if limit is None)
    return Estimate(value=value, low=low, high=high, flags=flags)


def _ranks(n: int, q: float, tail: float) -> tuple[int | None, int | None]:
    """Return the highest rank below the quantile and the lowest above it, at least 1 - tail sure.

    Of the n values, Binomial(n, q) lie below: rank r is too low unless fewer than r do.
    """
    from scipy import special  # the distribution of scipy.stats, at a third of its time to import

    def above(below: int) -> bool:
        return bool(special.betaincc(below + 1, n - below, q) >= tail)

    def beyond(below: int) -> bool:
        return bool(special.betainc(below + 1, n - below, q) <= tail)

    lower = bisect_left(range(n), True, key=above)
    upper = bisect_left(range(n), True, key=beyond) + 1
    return lower or None, upper if upper <= n else None


def bootstrap_interval(
    units: Sequence[Unit],
    statistic: Callable[[Sequence[Unit]], float | None],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return a statistic of units with its percentile bootstrap interval.

    units: independent units, resampled whole; statistic: from units to a number or None. Under
    30 units the interval is refused (flag `few_units`); a statistic that some resample leaves
    undefined has none either (flag `undefined_resamples`). No unit, or undefined: None.
    Raises ValueError if the confidence is outside (0.5, 1).
    Source: Efron 1979; scipy.stats.bootstrap(method="percentile").
    """

    level(confidence)
    value = statistic(units) if units else None
    if value is None:
        return None
    import numpy as np

    def of_row(row: "NDArray[np.intp]") -> float:
        found = statistic([units[place] for place in row])
        return math.nan if found is None else found

    def of_places(places: "NDArray[np.intp]", axis: int) -> "NDArray[np.float64]":
        return np.apply_along_axis(of_row, axis, places)

    return bootstrap_places(
        value, len(units), of_places, seed=seed, resamples=resamples, confidence=confidence
    )


def bootstrap_places(
    value: float,
    n: int,
    of_places: Callable[..., "NDArray[np.float64]"],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Estimate:
    """Return `value` with the percentile limits of `of_places(resampled places of n units)`.

    of_places: takes an array of places and the axis along which the units lie. Flags as
    `bootstrap_interval`. Raises ValueError if the confidence is outside (0.5, 1).
    Source: scipy.stats.bootstrap.
    """
    level(confidence)
    if n < LEAST_UNITS:
        return Estimate(value=value, flags=("few_units",))
    import numpy as np
    from scipy import stats

    undefined = 0

    def defined(places: "NDArray[np.intp]", axis: int) -> "NDArray[np.float64]":
        nonlocal undefined
        found = of_places(places, axis)
        missing = ~np.isfinite(found)
        undefined += int(missing.sum())
        return np.where(missing, value, found)  # scipy warns about NaN; counted instead

    drawn = stats.bootstrap(
        (np.arange(n),),
        defined,
        n_resamples=resamples,
        batch=max(1, 200_000 // n),
        vectorized=True,
        method="percentile",
        confidence_level=confidence,
        rng=np.random.default_rng(seed),
    )
    spread = drawn.bootstrap_distribution
    if undefined:
        return Estimate(value=value, flags=("undefined_resamples",))
    if float(spread.max()) == float(spread.min()):
        return Estimate(value=value, flags=("no_spread",))
    low, high = float(drawn.confidence_interval.low), float(drawn.confidence_interval.high)
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        se=float(drawn.standard_error),
    )
