"""What every function here asks of its arguments: whole counts, shares, finite numbers, a level."""

import math
import operator
import sys
from collections.abc import Iterable, Sequence
from statistics import NormalDist

WHOLE_SLACK = 1e-9
"""Relative slack before rounding up, so that 20.000000000001 is twenty."""
MOST = 2**53
"""Whole numbers beyond it are not all floats any more, and nobody has so many units."""
LARGEST = 1e75
"""A number beyond it, or nearer to 0 than its inverse, leaves the floats when it is squared twice."""


def count(name: str, value: float) -> int:
    """Return `value` as a whole number of 0 or more, or raise a ValueError that names it."""
    try:
        whole = operator.index(value)  # type: ignore[arg-type]  # numpy integers, bools
    except TypeError:
        if not math.isfinite(value) or int(value) != value:
            raise ValueError(f"{name} must be a whole number, not {value!r}") from None
        whole = int(value)
    if whole < 0:
        raise ValueError(f"{name} must not be negative, but is {whole}")
    if whole > MOST:
        raise ValueError(f"{name} must be at most 2^53, not {value!r}")
    return whole


def part(name: str, value: float, whole_name: str, whole: float) -> tuple[int, int]:
    """Return a count and the count it is part of: 0 <= value <= whole."""
    checked, total = count(name, value), count(whole_name, whole)
    if checked > total:
        raise ValueError(f"{name} is {checked}, but {whole_name} is only {total}")
    return checked, total


def finite(name: str, values: Iterable[float]) -> list[float]:
    """Return the values as floats, or raise a ValueError that names what is not finite."""
    checked = [float(value) for value in values]
    for place, value in enumerate(checked):
        if not math.isfinite(value):
            raise ValueError(f"{name}[{place}] must be a finite number, not {value!r}")
        if abs(value) > LARGEST:
            raise ValueError(f"{name}[{place}] must lie within {LARGEST:g}, not {value!r}")
    return checked


def evidence(name: str, values: Iterable[float]) -> list[float]:
    """Return e-values, which may be as large as a float can be; infinity counts as the largest."""
    checked = [min(float(value), sys.float_info.max) for value in values]
    for place, value in enumerate(checked):
        if not math.isfinite(value):
            raise ValueError(f"{name}[{place}] must be a number, not {value!r}")
    return checked


def number(name: str, value: float, *, above: float = -math.inf) -> float:
    """Return a finite number greater than `above`."""
    checked = float(value)
    if not math.isfinite(checked) or checked <= above:
        wanted = "finite" if above == -math.inf else f"finite and above {above:g}"
        raise ValueError(f"{name} must be {wanted}, not {value!r}")
    if abs(checked) > LARGEST or (above == 0 and checked < 1 / LARGEST):
        raise ValueError(f"{name} must not be so large or so near to its limit: {value!r}")
    return checked


def share(name: str, value: float) -> float:
    """Return a fraction in [0, 1]."""
    checked = float(value)
    if not 0 <= checked <= 1:
        raise ValueError(f"{name} must lie in [0, 1], not {value!r}")
    return checked


def inner_share(name: str, value: float) -> float:
    """Return a fraction strictly between 0 and 1."""
    checked = float(value)
    if not 1 / LARGEST <= checked < 1:
        raise ValueError(f"{name} must lie in (0, 1), and not at its end: {value!r}")
    return checked


def shares(name: str, values: Iterable[float]) -> list[float]:
    """Return fractions in [0, 1]."""
    return [share(f"{name}[{place}]", value) for place, value in enumerate(values)]


def inclusion(name: str, values: Iterable[float]) -> list[float]:
    """Return probabilities of having been drawn, each in (0, 1]."""
    checked = finite(name, values)
    for place, value in enumerate(checked):
        if not 0 < value <= 1:
            raise ValueError(f"{name}[{place}] must lie in (0, 1], not {value!r}")
    return checked


def same_length(**named: Sequence[object]) -> int:
    """Return the common length of several sequences."""
    lengths = {name: len(values) for name, values in named.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"these must have one length: {told}")
    return next(iter(lengths.values()))


def level(confidence: float) -> float:
    """Return a confidence strictly between 0.5 and 1."""
    checked = float(confidence)
    if not 0.5 < checked < 1:
        raise ValueError(f"confidence must lie in (0.5, 1), not {confidence!r}")
    return checked


def z_of(confidence: float) -> float:
    """Return the normal quantile of a two-sided confidence: 1.96 at 0.95."""
    return NormalDist().inv_cdf(0.5 + level(confidence) / 2)


def t_of(confidence: float, df: float) -> float:
    """Return the Student quantile of a two-sided confidence at `df` degrees of freedom."""
    from scipy import special  # what scipy.stats.t.ppf calls, at a third of its time to import

    return float(special.stdtrit(df, 0.5 + level(confidence) / 2))


def round_up(value: float) -> int:
    """Return the next whole number, forgiving the last bits of the arithmetic before it."""
    return math.ceil(value - WHOLE_SLACK * max(1.0, abs(value)))


def units(name: str, wanted: float) -> int:
    """Return how many units somebody needs, rounded up; names the argument that asks for too many."""
    if not wanted <= MOST:
        raise ValueError(f"{name} asks for more than 2^53 units: no plan can have so many")
    return max(1, round_up(wanted))
