"""Any number of raters, ratings missing or not: Fleiss, AC1, Krippendorff."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from scoring.stats.arguments import count, number, t_of
from scoring.stats.arguments import level as checked_level
from scoring.stats.quantiles import RESAMPLES, bootstrap_places
from scoring.stats.results import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Rating = float | str
Level = Literal["nominal", "ordinal", "interval", "ratio"]
UNDEFINED = Estimate(value=None, flags=("undefined",))


def _checked(counts: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return subjects x categories as whole counts, or raise a ValueError."""
    cells = [[count("counts", cell) for cell in row] for row in counts]
    if len({len(row) for row in cells}) > 1:
        raise ValueError("counts must have the same categories for every subject")
    return cells


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> Estimate | None:
    """Return Fleiss' kappa of several raters.

    counts: subjects x categories, how many raters chose each; the same number of raters (two or
    more) everywhere. Result: at most 1, no limits. All in one category: value None, flag
    `undefined`. No subject gives None.
    Raises ValueError if subjects have different numbers of raters, or fewer than two.
    Source: Fleiss 1971, Psychological Bulletin 76:378.
    """
    cells = _checked(counts)
    if not cells:
        return None
    raters = {sum(row) for row in cells}
    if len(raters) > 1 or min(raters) < 2:
        raise ValueError("Fleiss' kappa needs the same number of raters (2 or more) everywhere")
    r, n = raters.pop(), len(cells)
    observed = math.fsum((sum(c * c for c in row) - r) / (r * (r - 1)) for row in cells) / n
    expected = math.fsum((sum(column) / (n * r)) ** 2 for column in zip(*cells, strict=True))
    if math.isclose(expected, 1.0, abs_tol=1e-12):
        return UNDEFINED
    return Estimate(value=1 - (1 - observed) / (1 - expected))


def ac1_of_counts(counts: Sequence[Sequence[int]], *, confidence: float = 0.95) -> Estimate | None:
    """Return Gwet's AC1 of any number of raters; see `agreement.gwet_ac1`.

    counts: subjects x categories (counts); subjects without a rating are left out. Nobody rated
    twice: value None, flag `undefined`. Limits by t with subjects - 1 degrees, clipped to [-1, 1].
    Raises ValueError if a count is negative. Source: Gwet 2008; R irrCAC::gwet.ac1.dist.
    """
    rated = [row for row in _checked(counts) if sum(row) > 0]
    checked_level(confidence)
    if not rated:
        return None
    n, q = len(rated), len(rated[0])
    pairs = [_pair_agreement(row) for row in rated]
    twice = sum(pair is not None for pair in pairs)
    if twice == 0:
        return UNDEFINED
    if q == 1:
        return Estimate(value=1.0, se=0.0, flags=("no_spread",))
    pi = [math.fsum(row[k] / sum(row) for row in rated) / n for k in range(q)]
    observed = math.fsum(pair for pair in pairs if pair is not None) / twice
    expected = math.fsum(p * (1 - p) for p in pi) / (q - 1)
    gamma = 1 - (1 - observed) / (1 - expected)
    if n == 1:
        return Estimate(value=gamma, flags=("one_unit",))
    off = 0.0
    for row, pair in zip(rated, pairs, strict=True):
        chance = math.fsum(c / sum(row) * (1 - p) for c, p in zip(row, pi, strict=True)) / (q - 1)
        own = 0.0 if pair is None else n / twice * (pair - expected) / (1 - expected)
        off += (own - 2 * (1 - gamma) * (chance - expected) / (1 - expected) - gamma) ** 2
    se = math.sqrt(off / (n * (n - 1)))
    if se < 1e-12:
        return Estimate(value=gamma, se=0.0, df=n - 1, flags=("no_spread",))
    reach = t_of(confidence, n - 1) * se
    low, high = max(-1.0, gamma - reach), min(1.0, gamma + reach)
    return Estimate(value=gamma, low=low, high=high, se=se, df=n - 1)


def _pair_agreement(row: Sequence[int]) -> float | None:
    """Return the share of agreeing pairs of ratings, or None with fewer than two ratings."""
    r = sum(row)
    return None if r < 2 else sum(c * (c - 1) for c in row) / (r * (r - 1))


def counts_of_ratings(ratings: Iterable[Sequence[Rating | None]]) -> list[list[int]]:
    """Return subjects x categories from lists of ratings per subject; None is a missing rating.

    Categories are those that occur, sorted. No error: any rating is a category.
    """
    tallies = [Counter(value for value in unit if value is not None) for unit in ratings]
    kinds = _ordered({value for tally in tallies for value in tally})
    return [[tally[kind] for kind in kinds] for tally in tallies]


def _ordered(kinds: Iterable[Rating]) -> list[Rating]:
    """Return categories in order: numbers by size, then texts by letter."""
    return sorted(kinds, key=lambda kind: (isinstance(kind, str), kind))


def krippendorff(
    ratings: Iterable[Sequence[Rating | None]],
    level: Level = "nominal",
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return Krippendorff's alpha of any number of raters, with bootstrap limits over units.

    ratings: per unit its ratings, None where one is missing; units with fewer than two do not
    count; level: nominal, ordinal, interval or ratio (the last two need numbers). Result: at
    most 1. No variation at all: value None, flag `undefined`. Under 30 units no limits (flag
    `few_units`). No unit with two ratings gives None.
    Raises ValueError if interval or ratio meets a text, or the level is unknown.
    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability.
    """
    checked_level(confidence)
    if level not in {"nominal", "ordinal", "interval", "ratio"}:
        raise ValueError(f"level must be nominal, ordinal, interval or ratio, not {level!r}")
    units_rated = list(ratings)
    counts = [row for row in counts_of_ratings(units_rated) if sum(row) >= 2]
    if not counts:
        return None
    kinds = _ordered({value for unit in units_rated for value in unit if value is not None})
    import numpy as np

    tallies = np.asarray(counts, dtype=np.float64)
    each = tallies.sum(axis=1)[:, None, None] - 1
    pairs = tallies[:, :, None] * tallies[:, None, :]
    units = (pairs - tallies[:, :, None] * np.eye(len(kinds))) / each
    places = _places(kinds, level)
    value = float(_alpha(units.sum(axis=0), level, places))
    if not math.isfinite(value):
        return UNDEFINED
    flat = units.reshape(len(units), -1)

    def of_places(drawn: "NDArray[np.intp]", axis: int) -> "Floats":
        taken = np.stack([np.bincount(row, minlength=len(units)) for row in np.atleast_2d(drawn)])
        found = _alpha((taken @ flat).reshape(-1, len(kinds), len(kinds)), level, places)
        return found.reshape(drawn.shape[:-1])

    return bootstrap_places(
        value, len(units), of_places, seed=seed, resamples=resamples, confidence=confidence
    )


def _places(kinds: Sequence[Rating], measured: Level) -> "Floats":
    """Return the categories as numbers; on nominal and ordinal levels only their order counts."""
    import numpy as np

    if measured in {"nominal", "ordinal"}:
        return np.arange(len(kinds), dtype=np.float64)
    if any(isinstance(kind, str) for kind in kinds):
        raise ValueError(f"ratings must be numbers for the level {measured!r}")
    return np.asarray([number("ratings", float(kind)) for kind in kinds], dtype=np.float64)


def _alpha(coincidences: "Floats", measured: Level, places: "Floats") -> "Floats":
    """Return alpha of one or many coincidence matrices; NaN where nothing varies."""
    import numpy as np

    margins = coincidences.sum(axis=-1)
    total = margins.sum(axis=-1)
    far = _distance(margins, measured, places)
    observed = (coincidences * far).sum(axis=(-1, -2)) * (total - 1)
    expected = (margins[..., :, None] * margins[..., None, :] * far).sum(axis=(-1, -2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(expected > 0, 1 - observed / expected, np.nan))


def _distance(margins: "Floats", measured: Level, places: "Floats") -> "Floats":
    """Return the squared distance of every two categories on a level of measurement."""
    import numpy as np

    match measured:
        case "nominal":
            return 1 - np.eye(len(places))
        case "ordinal":
            middle = margins.cumsum(axis=-1) - margins / 2
            return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)
        case "interval":
            return np.asarray((places[:, None] - places[None, :]) ** 2)
        case "ratio":
            both = places[:, None] + places[None, :]
            apart = places[:, None] - places[None, :]
            return np.asarray(np.divide(apart, both, out=np.zeros_like(both), where=both != 0) ** 2)
