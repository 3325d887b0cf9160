"""Groups of runs, added up by hand."""

from dataclasses import replace
from typing import Any

from gnomon.clock import Nanos
from scoring.metrics.group import Group
from scoring.metrics.moments import Moments
from scoring.metrics.parts import PARTS, RATIOS
from scoring.metrics.scope import Scope
from scoring.metrics.statements import Units
from scoring.metrics.sums import Sums

SECOND = 1_000_000_000
SCOPE = Scope(agent="desk", version="rc4", since=Nanos(0), until=Nanos(10 * SECOND))


def group(*, amounts: dict[str, float] | None = None, cluster_by: str | None = None, **parts: Any) -> Group:  # fmt: skip
    """Return runs by part, each a unit of its own; by default whole, ended, and with usage."""
    given = {name: parts.pop(name) for name in list(parts) if name in PARTS}
    counts = {**dict.fromkeys(PARTS, 0), **given}
    counts.setdefault("complete", 0)
    if "complete" not in given:
        counts["complete"] = counts["scoped"]
    if "summed_up" not in given:
        counts["summed_up"] = counts["scoped"] - counts["not_summed_up"]
    if "unverified" not in given:
        counts["unverified"] = counts["scoped"] - counts["verified"] - counts["failed"]
    ratios = {}
    for name, ratio in RATIOS.items():
        m = counts[ratio.m]
        y = (amounts or {}).get(name, 0.0) if ratio.amount else counts[ratio.y]
        yy = y * y / m if ratio.amount and m else y
        ratios[name] = Moments(clusters=m, m=m, y=y, mm=m, my=y, yy=yy)
    sums = Sums(parts=counts, ratios=ratios)
    totals = {**sums.totals, **parts.pop("totals", {})}
    return Group(
        sums=replace(sums, totals=totals, **parts),
        scope=SCOPE,
        units=Units(cluster_by=cluster_by, task="task_id", slices={"topic": "topic"}),
    )
