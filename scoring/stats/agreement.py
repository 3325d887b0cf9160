"""Two raters on the same items: raw agreement, per class, kappa and AC1, always together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.stats.arguments import count, level, t_of, z_of
from scoring.stats.raters import ac1_of_counts
from scoring.stats.rates import rate, wilson
from scoring.stats.results import Estimate, Rate

Table = Sequence[Sequence[int]]
"""Square: rows are the first rater's categories, columns the second's, cells counts of items."""
LEAST_AGREEMENT = 0.8
"""Under this raw agreement between people the rubric is at fault."""


def checked_table(table: Table) -> tuple[list[list[int]], int]:
    """Return a square table of counts and its total, or raise a ValueError."""
    cells = [[count("table", cell) for cell in row] for row in table]
    if not cells or any(len(row) != len(cells) for row in cells):
        raise ValueError("table must be square: the same categories for both raters")
    return cells, sum(map(sum, cells))


def _margins(cells: list[list[int]], n: int) -> tuple[list[float], list[float], float]:
    """Return row shares, column shares, and the share on the diagonal."""
    rows = [sum(row) / n for row in cells]
    columns = [sum(column) / n for column in zip(*cells, strict=True)]
    return rows, columns, sum(cells[k][k] for k in range(len(cells))) / n


def undefined(*flags: str) -> Estimate:
    """Return "0/0": there is no number, and a flag says so."""
    return Estimate(value=None, flags=("undefined", *flags))


def chance_corrected(observed: float, expected: float) -> float | None:
    """Return (observed - expected) / (1 - expected), or None for 0/0."""
    return (
        None if math.isclose(expected, 1.0, abs_tol=1e-12) else 1 - (1 - observed) / (1 - expected)
    )


def limited(value: float, se: float, reach: float, df: float | None = None) -> Estimate:
    """Return a coefficient with limits clipped to [-1, 1]; without spread it has none."""
    if se == 0:
        return Estimate(value=value, se=0.0, df=df, flags=("no_spread",))
    low, high = max(-1.0, value - reach * se), min(1.0, value + reach * se)
    return Estimate(value=value, low=low, high=high, se=se, df=df)


def cohen_kappa(table: Table, *, confidence: float = 0.95) -> Estimate | None:
    """Return Cohen's kappa of two raters with its large-sample limits.

    table: square, counts of items. Result: in [-1, 1], limits kappa +- z SE clipped to it. All
    items in one category of both raters: value None, flag `undefined`. No item gives None.
    Raises ValueError if the table is not square or holds a negative count.
    Source: Cohen 1960; SE of Fleiss, Cohen & Everitt 1969, Psychological Bulletin 72:323.
    """
    cells, n = checked_table(table)
    z = z_of(confidence)
    if n == 0:
        return None
    rows, columns, observed = _margins(cells, n)
    expected = math.fsum(r * c for r, c in zip(rows, columns, strict=True))
    kappa = chance_corrected(observed, expected)
    if kappa is None:
        return undefined()
    places = range(len(cells))
    a = math.fsum(cells[i][i] / n * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in places)
    b = (1 - kappa) ** 2 * math.fsum(
        cells[i][j] / n * (columns[i] + rows[j]) ** 2 for i in places for j in places if i != j
    )
    c = (kappa - expected * (1 - kappa)) ** 2
    return limited(kappa, _root((a + b - c) / n) / (1 - expected), z)


def _root(value: float) -> float:
    """Return the square root, taking what rounding left around 0 for 0."""
    return math.sqrt(value) if value > 1e-15 else 0.0


def scott_pi(table: Table) -> Estimate | None:
    """Return Scott's pi: chance agreement from the mean of both raters' shares.

    table: square, counts of items. Result: in [-1, 1], no limits. One category: value None, flag
    `undefined`. No item gives None. Raises ValueError as `cohen_kappa`.
    Source: Scott 1955: p_e = sum of squared mean shares.
    """
    cells, n = checked_table(table)
    if n == 0:
        return None
    rows, columns, observed = _margins(cells, n)
    expected = math.fsum(((r + c) / 2) ** 2 for r, c in zip(rows, columns, strict=True))
    value = chance_corrected(observed, expected)
    return undefined() if value is None else Estimate(value=value)


def brennan_prediger(table: Table) -> Estimate | None:
    """Return the Brennan-Prediger coefficient; with two categories it is PABAK.

    table: square, counts of items, q categories. Result: in [-1, 1], no limits. A table of one
    category: value None, flag `undefined`. No item gives None. Raises ValueError as `cohen_kappa`.
    Source: Brennan & Prediger 1981: p_e = 1/q.
    """
    cells, n = checked_table(table)
    if n == 0:
        return None
    value = chance_corrected(_margins(cells, n)[2], 1 / len(cells))
    return undefined() if value is None else Estimate(value=value)


def gwet_ac1(
    table: Table | None = None, *, counts: Table | None = None, confidence: float = 0.95
) -> Estimate | None:
    """Return Gwet's AC1, which stays near the raw agreement where kappa falls.

    table: two raters, square, counts of items. Or counts: subjects x categories, how many raters
    chose each; any number of raters per subject, missing ratings allowed. Exactly one of both.
    Result: in [-1, 1], limits AC1 +- t_{n-1} SE clipped to it. One category: 1. No item: None.
    Raises ValueError if both or none is given, or a count is negative.
    Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29.
    """
    level(confidence)
    if (table is None) == (counts is None):
        raise ValueError("give either table or counts")
    if counts is not None:
        return ac1_of_counts(counts, confidence=confidence)
    cells, n = checked_table(table or ())
    return None if n == 0 else _ac1_of_table(cells, n, confidence)


def _ac1_of_table(cells: list[list[int]], n: int, confidence: float) -> Estimate:
    """Return AC1 of two raters on n > 0 items."""
    q = len(cells)
    if q == 1:
        return Estimate(value=1.0, se=0.0, flags=("no_spread",))
    rows, columns, observed = _margins(cells, n)
    pi = [(r + c) / 2 for r, c in zip(rows, columns, strict=True)]
    expected = math.fsum(p * (1 - p) for p in pi) / (q - 1)
    gamma = 1 - (1 - observed) / (1 - expected)
    second = math.fsum(
        cells[i][j] / n * ((i == j) - 2 * (1 - gamma) * (1 - (pi[i] + pi[j]) / 2) / (q - 1)) ** 2
        for i in range(q)
        for j in range(q)
    )
    first = (observed - 2 * (1 - gamma) * expected) ** 2
    if n == 1:
        return Estimate(value=gamma, flags=("one_unit",))
    se = _root((second - first) / n) / (1 - expected)
    return limited(gamma, se, t_of(confidence, n - 1), n - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What two raters have in common. No coefficient stands alone."""

    raw: Rate
    per_class: Sequence[Estimate | None]
    """Of the times either rater chose the class, how often the other did too (no limits)."""
    kappa: Estimate | None
    ac1: Estimate | None
    prevalence: Sequence[float | None]
    """Mean share of the class over both raters."""
    decimals: int
    """Decimals of kappa that mean anything: one under 100 items, else two."""
    flags: Sequence[str]
    """`fix_the_rubric` when the raw agreement is under .8."""


def two_raters(table: Table, *, unit: str = "run", confidence: float = 0.95) -> Agreement:
    """Return raw agreement, agreement per class, kappa, AC1 and prevalence of two raters.

    table: square, counts of items; unit: what an item is. Result: fractions; no item gives None
    in every place. Raises ValueError if the table is not square or holds a negative count.
    Source: Cicchetti & Feinstein 1990, J Clin Epidemiol 43:551.
    """
    cells, n = checked_table(table)
    agreed = sum(cells[k][k] for k in range(len(cells)))
    both = [
        sum(row) + sum(column) for row, column in zip(cells, zip(*cells, strict=True), strict=True)
    ]
    raw = rate(agreed, n, unit=unit, confidence=confidence)
    weak = raw.value is not None and raw.value < LEAST_AGREEMENT
    return Agreement(
        raw=raw,
        per_class=[
            Estimate(value=2 * cells[k][k] / total) if total else None
            for k, total in enumerate(both)
        ],
        kappa=cohen_kappa(table, confidence=confidence),
        ac1=gwet_ac1(table, confidence=confidence),
        prevalence=[total / (2 * n) if n else None for total in both],
        decimals=1 if n < 100 else 2,
        flags=("fix_the_rubric",) if weak else (),
    )


def raw_agreement(table: Table, *, confidence: float = 0.95) -> Estimate | None:
    """Return the share of items on which two raters agree, with Wilson limits.

    table: square, counts of items. Result: fractions. No item gives None.
    Raises ValueError if the table is not square. Source: Wilson 1927.
    """
    cells, n = checked_table(table)
    return wilson(sum(cells[k][k] for k in range(len(cells))), n, confidence=confidence)
