"""What a bench reports: figures with their goals, printed as they come and as a closing table."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number, and the goal it is held against."""

    name: str
    value: float
    unit: str = ""
    below: float | None = None
    """The goal: less than this."""
    at_least: float | None = None
    """The goal: this or more."""

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without one."""
        if self.below is not None:
            return self.value < self.below
        if self.at_least is not None:
            return self.value >= self.at_least
        return None

    @property
    def goal(self) -> str:
        """The goal in words; '' without one."""
        if self.below is not None:
            return f"< {_number(self.below)} {self.unit}".rstrip()
        if self.at_least is not None:
            return f">= {_number(self.at_least)} {self.unit}".rstrip()
        return ""

    @property
    def shown(self) -> str:
        """The number with its unit."""
        return f"{_number(self.value)} {self.unit}".rstrip()


def say(line: str = "") -> None:
    """Print a line at once: a bench takes minutes."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def load_average() -> str:
    """Return what else the machine was doing: wall times mean little beside a high number."""
    return f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    return percentile(values, 0.5)


def percentile(values: Sequence[float], level: float) -> float:
    """Return the nearest rank of a level such as 0.99; 0 without values."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    rank = -int(-level * len(ordered) // 1)
    return ordered[max(0, rank - 1)]


def table(figures: Sequence[Figure]) -> str:
    """Return figures in columns: name, value, goal, verdict."""
    rows = [(one.name, one.shown, one.goal, _verdict(one.met)) for one in figures]
    widths = [max((len(row[place]) for row in rows), default=0) for place in range(3)]
    return "\n".join(
        f"  {name:{widths[0]}}  {value:>{widths[1]}}  {goal:{widths[2]}}  {verdict}".rstrip()
        for name, value, goal, verdict in rows
    )


def _verdict(met: bool | None) -> str:
    return "" if met is None else "reached" if met else "MISSED"


def _number(value: float) -> str:
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
