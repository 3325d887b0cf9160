"""Events that arrive late: how late they are, and how many are still to come."""

import math
from collections.abc import Sequence

from scoring.stats.arguments import count, inclusion, level, number
from scoring.stats.results import Estimate

Triangle = Sequence[Sequence[int | None]]
"""Cohorts x delay (counts); cells that nobody can have seen yet are None."""


def delay_distribution(triangle: Triangle) -> list[float] | None:
    """Return the share of events that have arrived by each delay.

    triangle: one row per cohort, oldest first, one column per delay from 0; None for a cell not
    seen yet. Result: F(0) … F(D) = 1, fractions; where nothing arrived the step is 0.
    No cell of the last delay, or no event at all: None.
    Raises ValueError if rows differ in length, a count is negative, or a gap lies inside a row.
    Source: Lagakos, Barraj & De Gruttola 1988; equals chain-ladder factors.
    """
    rows = [_seen(row) for row in triangle]
    width = {len(row) for row in triangle}
    if len(width) > 1:
        raise ValueError("triangle must have the same delays for every cohort")
    last = width.pop() - 1 if width else -1
    full = [row for row in rows if len(row) == last + 1]
    if last < 0 or not full or not any(map(sum, rows)):
        return None
    shares = [1.0]
    for delay in range(last, 0, -1):
        old = [row for row in rows if len(row) > delay]
        arrived = sum(row[delay] for row in old)
        until = sum(sum(row[: delay + 1]) for row in old)
        shares.append(shares[-1] * (1 - arrived / until) if until else shares[-1])
    return shares[::-1]


def _seen(row: Sequence[int | None]) -> list[int]:
    """Return the seen cells of a cohort; what follows a None must be None."""
    seen = [cell for cell in row if cell is not None]
    if any(cell is not None for cell in row[len(seen) :]):
        raise ValueError("triangle must not have a gap inside a row")
    return [count("triangle", cell) for cell in seen]


def nowcast(seen: int, share: float, *, confidence: float = 0.95) -> Estimate | None:
    """Return how many events of a cohort there will be, from those that have arrived.

    seen: events so far (count); share: F at the age of the cohort, in [0, 1]. Result: events,
    seen / F. Nothing seen: value None and 0 to the zero-event bound -ln(alpha)/F, flag
    `nothing_seen`. F = 0 gives None. Raises ValueError if the share is outside [0, 1].
    Source: Kalbfleisch & Lawless 1989; Poisson bound.
    """
    arrived, known = count("seen", seen), number("share", share)
    alpha = 1 - level(confidence)
    if known == 0:
        return None
    (known,) = inclusion("share", [known])
    if arrived == 0:
        high = -math.log(alpha) / known
        return Estimate(value=None, low=0.0, high=high, flags=("nothing_seen",))
    return Estimate(value=arrived / known)
