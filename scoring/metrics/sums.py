"""What ClickHouse added up for one group of runs, as metrics are computed from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scoring.metrics.asked import Asked
from scoring.metrics.moments import NO_UNIT, NOTHING, Moments, Own
from scoring.metrics.parts import BY_TASK, PARTS, RATIOS, TOTALS
from scoring.stats.clusters import NO_PAIRS, Pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """One group: counts by part, moments by ratio, totals, and the sorted values quantiles need."""

    group: str = ""
    parts: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    ratios: Mapping[str, Moments] = field(default_factory=lambda: dict.fromkeys(RATIOS, NOTHING))
    own: Mapping[str, Own] = field(default_factory=lambda: dict.fromkeys(BY_TASK, NO_UNIT))
    """Of some ratios the shares of the units themselves."""
    totals: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(TOTALS, 0))
    finished_ns: Sequence[int] = ()
    """Durations of finished runs, ascending."""
    aborted_ns: Sequence[int] = ()
    costs: Sequence[float] = ()
    """USD of each run whose cost is known, ascending."""
    spent: Pairs = NO_PAIRS
    """USD and verified runs of each unit: a cluster, or a run."""
    decision_ns: Sequence[int] = ()
    """How long people took to decide, ascending."""
    calls_with_tokens: int = 0
    p90_call_tokens: int | None = None


def of_row(row: Mapping[str, Any], asked: Asked) -> Sums:
    """Return the sums of one row of the statement `sums`.

    What was not asked for is not there: read as 0 it would be a number that nobody counted.
    """
    counts, squares, clusters = row["counts"], row["squares"], row["clusters"]
    ratios = {}
    for name, (m, y), product in zip(asked.ratios, asked.places(), row["products"], strict=True):
        ratios[name] = Moments(
            # Of actions those clusters count that have a run with any, as of all else.
            clusters=int(clusters[m - 1]),
            m=counts[m - 1], y=counts[y - 1], mm=squares[m - 1], my=product, yy=squares[y - 1],
        )  # fmt: skip
    lists = zip(row["own_shares"], row["own_squares"], row["own_inverse"], strict=True)
    own = {
        name: Own(units=ratios[name].clusters, shares=shares, squares=squares, inverse=inverse)
        for name, (shares, squares, inverse) in zip(asked.own(), lists, strict=True)
    }
    totals = row["totals"] or [0] * len(asked.totals)
    return Sums(
        group=row["grp"],
        parts=dict(zip(asked.parts, map(int, counts[: len(asked.parts)]), strict=True)),
        ratios=ratios,
        own=own,
        totals=dict(zip(asked.totals, map(int, totals), strict=True)),
        spent=Pairs(
            n=int(row["spent_n"]), c=row["spent"], s=row["solved"], cc=row["spent_variance"],
            cs=row["covariance"], ss=row["solved_variance"],
        ),
        **(_values(row) if asked.values else {}),
    )  # fmt: skip


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    calls = int(row["calls_with_tokens"])
    lists = {name: row[name] for name in ("finished_ns", "aborted_ns", "costs", "decision_ns")}
    p90 = int(row["p90_call_tokens"]) if calls else None
    return {**lists, "calls_with_tokens": calls, "p90_call_tokens": p90}
