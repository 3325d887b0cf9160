"""What ClickHouse added up for one group of runs, as metrics are computed from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scoring.metrics.moments import NOTHING, Moments
from scoring.metrics.parts import PARTS, RATIOS, TOTALS, Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """One group: counts by part, moments by ratio, totals, and the sorted values quantiles need."""

    group: str = ""
    parts: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    ratios: Mapping[str, Moments] = field(default_factory=lambda: dict.fromkeys(RATIOS, NOTHING))
    totals: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(TOTALS, 0))
    finished_ns: Sequence[int] = ()
    """Durations of finished runs, ascending."""
    aborted_ns: Sequence[int] = ()
    costs: Sequence[float] = ()
    """USD of each run whose cost is known, ascending."""
    unit_costs: Sequence[float] = ()
    """USD of each unit: a cluster, or a run."""
    unit_solved: Sequence[int] = ()
    """Verified runs of each unit, in the order of `unit_costs`."""
    decision_ns: Sequence[int] = ()
    """How long people took to decide, ascending."""
    calls_with_tokens: int = 0
    p90_call_tokens: int | None = None


def of_row(row: Mapping[str, Any]) -> Sums:
    """Return the sums of one row of the statement `sums`.

    What was not asked for is not there: read as 0 it would be a number that nobody counted.
    """
    return Sums(
        group=row["grp"],
        parts={name: int(row[f"parts_{name}"]) for name in PARTS if f"parts_{name}" in row},
        ratios={name: seen for name in RATIOS if (seen := _moments(row, name)) is not None},
        totals={name: int(row[f"totals_{name}"]) for name in TOTALS if f"totals_{name}" in row},
        finished_ns=row["finished_ns"],
        aborted_ns=row["aborted_ns"],
        costs=row["costs"],
        unit_costs=row["unit_costs"],
        unit_solved=row["unit_solved"],
        decision_ns=row["decision_ns"],
        calls_with_tokens=int(row["calls_with_tokens"]),
        p90_call_tokens=int(row["p90_call_tokens"]) if row["calls_with_tokens"] else None,
    )


def _moments(row: Mapping[str, Any], name: str) -> Moments | None:
    ratio = RATIOS[name]
    if f"my_{name}" not in row:
        return _of_runs(row, ratio)
    y, yy = f"parts_{ratio.y}", f"squares_{ratio.y}"
    m, mm = f"parts_{ratio.m}", f"squares_{ratio.m}"
    if ratio.amount or ratio.actions:
        y, yy = f"y_{name}", f"yy_{name}"
    if ratio.actions:
        m, mm = f"m_{name}", f"mm_{name}"
    return Moments(
        clusters=int(row[f"clusters_{ratio.m}"]),
        m=float(row[m]),
        y=float(row[y]),
        mm=float(row[mm]),
        my=float(row[f"my_{name}"]),
        yy=float(row[yy]),
    )


def _of_runs(row: Mapping[str, Any], ratio: Ratio) -> Moments | None:
    """Return the moments of a share of single runs: every product is the sum itself.

    Every part of a share lies within its denominator. None, where it was not asked for.
    """
    if (
        ratio.amount
        or ratio.actions
        or f"parts_{ratio.y}" not in row
        or f"parts_{ratio.m}" not in row
    ):
        return None
    m, y = int(row[f"parts_{ratio.m}"]), int(row[f"parts_{ratio.y}"])
    return Moments(clusters=m, m=float(m), y=float(y), mm=float(m), my=float(y), yy=float(y))
