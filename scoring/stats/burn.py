"""Error budgets: how fast they burn, and when few runs say nothing about it."""

import math
from dataclasses import dataclass
from enum import StrEnum

from scoring.stats.arguments import WHOLE_SLACK, inner_share, number, part

BUDGET_HOURS = 720.0
"""Thirty days."""
LEAST_BAD = 3


def burn(bad: int, total: int, slo: float) -> float | None:
    """Return how many times faster than allowed the error budget burns.

    bad of total runs (counts); slo: target share of good runs in (0, 1). Result: times,
    (bad/total)/(1 - SLO). No run gives None.
    Raises ValueError unless bad <= total and the SLO is in (0, 1).
    Source: Google SRE Workbook, chapter 5.
    """
    bad, total = part("bad", bad, "total", total)
    allowed = 1 - inner_share("slo", slo)
    return bad / total / allowed if total else None


def budget_spent(times: float, window_hours: float) -> float:
    """Return the share of a 30-day budget that a burn over a window uses up.

    times: burn, window_hours: > 0. Result: fraction, burn window / 720 h.
    Raises ValueError if the window is not positive. Source: Google SRE Workbook, chapter 5.
    """
    return number("burn", times) * number("window_hours", window_hours, above=0) / BUDGET_HOURS


def burn_error_rate(times: float, slo: float) -> float:
    """Return the error rate at which a burn is reached: B (1 - SLO), over 1 if never.

    times: burn > 0; slo: in (0, 1). Raises ValueError if an argument is outside its range.
    Source: Google SRE Workbook, chapter 5.
    """
    return number("burn", times, above=0) * (1 - inner_share("slo", slo))


def least_runs(times: float, slo: float) -> int:
    """Return the fewest runs at which a single failure does not trip a burn.

    times: burn > 0; slo: in (0, 1). Result: floor(1/(B (1 - SLO))) + 1: 70 at 14.4 and 99.9 %.
    Raises ValueError if an argument is outside its range. Source: 1/n < B (1 - SLO).
    """
    allowed = 1 / burn_error_rate(times, slo)
    return math.floor(allowed + WHOLE_SLACK * max(1.0, allowed)) + 1


def check_burn(times: float, slo: float) -> None:
    """Refuse a burn that no error rate can reach.

    times: burn > 0; slo: in (0, 1). Raises ValueError if B > 1/(1 - SLO): use a lower burn.
    Source: an error rate is at most 1.
    """
    reached = burn_error_rate(times, slo)
    if reached > 1 + WHOLE_SLACK:
        highest = 1 / (1 - slo)
        raise ValueError(
            f"burn {times:g} can never fire at SLO {slo:g}: use at most {highest:.4g} "
            f"(better {highest / 2:.3g}), or a stricter SLO"
        )


class Urgency(StrEnum):
    """What a burning budget asks for."""

    PAGE = "page"
    TICKET = "ticket"


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnRule:
    """A burn that must show in a long window and still in a short one."""

    times: float
    long_hours: float
    short_hours: float
    urgency: Urgency


RULES = (
    BurnRule(times=14.4, long_hours=1, short_hours=1 / 12, urgency=Urgency.PAGE),
    BurnRule(times=6, long_hours=6, short_hours=0.5, urgency=Urgency.PAGE),
    BurnRule(times=1, long_hours=72, short_hours=6, urgency=Urgency.TICKET),
)
"""2, 5 and 10 % of a 30-day budget."""


def burns(rule: BurnRule, slo: float, long: tuple[int, int], short: tuple[int, int]) -> bool:
    """Return whether a rule fires: burn reached in both windows, on enough runs and failures.

    rule: of `RULES`; slo: in (0, 1); long, short: (bad, total) in both windows (counts). The
    long window needs `least_runs` and 3 bad runs. No run in a window: no.
    Raises ValueError if the rule can never fire at this SLO, or bad exceeds total.
    Source: Google SRE Workbook, chapter 5; minimum of the house.
    """
    check_burn(rule.times, slo)
    speeds = [burn(bad, total, slo) for bad, total in (long, short)]
    enough = long[1] >= least_runs(rule.times, slo) and long[0] >= LEAST_BAD
    return enough and all(speed is not None and speed >= rule.times for speed in speeds)
