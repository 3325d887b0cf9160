"""What became of the rules of policies: runs that broke one, of those that its policy judged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scoring.metrics import moments
from scoring.metrics.figures import Figure
from scoring.metrics.group import Group
from scoring.metrics.moments import NOTHING, Moments
from scoring.metrics.others import told_of
from scoring.metrics.scope import BEHIND_PATH, Link
from scoring.stats.rates import zero_event_upper
from scoring.stats.results import Estimate
from scoring.stats.shown import shown_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCount:
    """In how many runs one rule was broken."""

    policy: str
    rule: str
    severity: str
    runs: int
    my: float
    """Runs that broke it times runs that its policy judged, added up over clusters."""
    yy: float
    """Squares of the runs that broke it, added up over clusters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """The rules of all policies in one group of runs."""

    broken: Sequence[RuleCount] = ()
    judged: Mapping[str, Moments] = field(default_factory=dict)
    """By policy, the runs that it graded or found a breach in: no rule is broken in more."""


def ruled_of(rows: Iterable[Mapping[str, Any]]) -> Ruled:
    """Return the rows of the statement `rules`; one without severity counts what was judged."""
    broken, judged = [], {}
    for row in rows:
        if row["severity"]:
            broken.append(_rule(row))
        else:
            judged[row["policy"]] = replace(
                NOTHING, clusters=int(row["clusters"]), m=row["runs"], mm=row["yy"]
            )
    return Ruled(broken=broken, judged=judged)


def _rule(row: Mapping[str, Any]) -> RuleCount:
    return RuleCount(
        policy=row["policy"],
        rule=row["rule"],
        severity=row["severity"],
        runs=int(row["runs"]),
        my=row["my"],
        yy=row["yy"],
    )


def broken_share(group: Group, rule: RuleCount, ruled: Ruled) -> Figure:
    """Return the share of runs that broke a rule; of one never seen broken, the upper bound."""
    judged = ruled.judged.get(rule.policy, NOTHING)
    seen = replace(judged, y=rule.runs, my=rule.my, yy=rule.yy)
    found = moments.share(seen, clustered=group.clustered, confidence=group.confidence)
    method = "korn-graubard" if group.clustered else "wilson"
    if rule.runs == 0 and judged.clusters:
        method = "exact upper bound"
        bound = zero_event_upper(judged.clusters, confidence=group.confidence)
        found = Estimate(value=0.0, low=0.0, high=bound)
    shown = shown_rate(
        found,
        n=judged.clusters,
        unit=group.unit,
        method=method,
        excluded=group.excluded,
        confidence=group.confidence,
        flags=[*group.flags(), rule.severity],
    )
    query = group.scope.query()
    of = {**query, "grader": rule.policy, "verdict": "graded"}
    broke = {**query, "rule": f"{rule.policy}/{rule.rule}"}
    figure = Figure(
        shown=shown,
        link=Link(path=BEHIND_PATH, query=of, runs=judged.runs),
        hits=Link(path=BEHIND_PATH, query=broke, runs=rule.runs),
        text=rule.severity,
    )
    return told_of(figure, group.others, grader=rule.policy)
