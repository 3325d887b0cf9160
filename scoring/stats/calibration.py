"""What a judge is worth: how it compares with people on a random sample."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.stats.arguments import count, number, part, same_length, share
from scoring.stats.rates import wilson
from scoring.stats.results import Estimate

LEAST_FAILURES = 5
LEAST_DISAGREEMENTS = 5
FEW_GRADES = 100

Confusion = Sequence[Sequence[int]]
"""2 x 2 counts, rows the judge (0, 1), columns the person (0, 1)."""


def confusion(table: Confusion) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return a checked 2 x 2 table, rows the judge, columns the person."""
    if len(table) != 2 or any(len(row) != 2 for row in table):
        raise ValueError("table must be 2 x 2: rows the judge, columns the person")
    (a, b), (c, d) = ([count("table", cell) for cell in row] for row in table)
    return (a, b), (c, d)


def phi_squared(table: Confusion) -> float | None:
    """Return the squared correlation of judge and person.

    table: rows the judge (0, 1), columns the person (0, 1), counts. Result: in [0, 1]; a side
    that says only one thing gives None. Raises ValueError if the table is not 2 x 2 counts.
    Source: Pearson 1900, phi of a fourfold table.
    """
    (a, b), (c, d) = confusion(table)
    below = (a + b) * (c + d) * (a + c) * (b + d)
    return None if below == 0 else (a * d - b * c) ** 2 / below


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQuality:
    """How a judge compares with people on a random sample."""

    sensitivity: Estimate | None
    specificity: Estimate | None
    ppv: Estimate | None
    npv: Estimate | None
    phi: float | None
    n: int


def judge_quality(table: Confusion, *, confidence: float = 0.95) -> JudgeQuality:
    """Return sensitivity, specificity, PPV and NPV (Wilson each) and phi of a judge.

    table: rows the judge (0, 1), columns the person (0, 1), counts of a random sample. Result:
    fractions; what has no runs is None. Raises ValueError if the table is not 2 x 2 counts.
    Source: Wilson 1927; Pearson 1900.
    """
    (n00, n01), (n10, n11) = confusion(table)
    below = math.sqrt((n00 + n01) * (n10 + n11) * (n00 + n10) * (n01 + n11))
    return JudgeQuality(
        sensitivity=wilson(n11, n01 + n11, confidence=confidence),
        specificity=wilson(n00, n00 + n10, confidence=confidence),
        ppv=wilson(n11, n10 + n11, confidence=confidence),
        npv=wilson(n00, n00 + n01, confidence=confidence),
        phi=(n00 * n11 - n01 * n10) / below if below else None,
        n=n00 + n01 + n10 + n11,
    )


def judge_worth(n: int, phi: float, n_all: int) -> float:
    """Return how many grades the graded runs are worth with the judge's help.

    n: graded runs, n_all: all judged runs, the graded included (counts); phi: correlation in
    [-1, 1]. Result: units, n / (1 - phi^2 (1 - n/N_all)). A perfect judge gives N_all.
    Raises ValueError if n > n_all or phi is outside [-1, 1].
    Source: Tenenbein 1970, variance ratio.
    """
    graded, everything = part("n", n, "n_all", n_all)
    if graded == 0:
        return 0.0
    squared = share("phi squared", number("phi", phi) ** 2)
    return graded / (1 - squared * (1 - graded / everything))


def trusted(y: Sequence[float], f: Sequence[float]) -> bool:
    """Return whether people's grades say enough about a judge to let it count.

    y, f: 0 or 1 per run, same length. True with 5 failures, and 5 disagreements or 100 grades.
    Raises ValueError on unequal length. Source: guard of the house.
    """
    n = same_length(y=y, f=f)
    failures = sum(grade < 0.5 for grade in y)
    apart = sum(a != b for a, b in zip(y, f, strict=True))
    return failures >= LEAST_FAILURES and (apart >= LEAST_DISAGREEMENTS or n >= FEW_GRADES)
