"""The numbers beside a comparison: what a version that wins could have won at the cost of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon.model import JsonValue
from scoring.metrics import moments
from scoring.metrics.guards import COMPLETENESS, LEAST_COMPLETE
from scoring.metrics.moments import Moments
from scoring.metrics.parts import RATIOS, staged
from scoring.metrics.watched import Measured
from scoring.stats.gates import Decision, Verdict
from scoring.stats.rates import open_bounds, zero_event_upper
from scoring.stats.results import Estimate, Rate
from scoring.stats.shown import shown_rate

GUARDS: Mapping[Measured, Sequence[str]] = {
    "completion": ("violations", "false_claims", "over_budget", "aborted", "unverified"),
    "clean": ("passed", "false_claims", "over_budget", "aborted", "unverified"),
    "finished": ("passed", "violations", "false_claims", "over_budget", "unverified"),
}
"""Metric: the shares shown beside it, over the same runs. Trace completeness joins them all."""

NEVER = frozenset({"violations"})
"""What should not happen at all: none seen shows the exact upper bound."""

NO_POLICY = "no policy judged runs of both sides, so nobody knows which rules they break"
LESS_JUDGED = (
    "policies judged a smaller share of the candidate's runs than of the baseline's, so nobody"
    " knows which rules the others break: have them judged (graders backfill)"
)
MEND = (
    "write a policy for them, or `violations: not_judged` into the rule, then run the candidate"
    " again under a new version"
)
NOT_JUDGED = "violations are not judged, which the rule allows"
UNTOLD = (
    "which rules the candidate breaks can not be told of {runs}: a policy could not be evaluated"
    " there, see why and record what is missing"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """One share on both sides."""

    base: Rate
    cand: Rate

    def as_json(self) -> JsonValue:
        """Return both."""
        return {"base": self.base.as_json(), "cand": self.cand.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A hard rule that a version broke, at one task or anywhere ('')."""

    version: str
    task: str
    policy: str
    rule: str
    runs: int
    run_ids: Sequence[str]
    """At most 20, to read."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Broken":
        """Return one row of the statement `broken`."""
        return cls(task=row["at_task"], **{k: v for k, v in row.items() if k != "at_task"})

    @property
    def name(self) -> str:
        """Policy and rule, as lists of runs ask for it."""
        return f"{self.policy}/{self.rule}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What stands beside the difference; without it there is no difference."""

    shares: Mapping[str, Sides]
    new: Sequence[Broken] | None
    """Hard rules that the candidate breaks and the baseline does not. None: nobody looked."""
    unjudged: int = 0
    """Runs of either side that no policy judged."""
    judged: tuple[float, float] = (1.0, 1.0)
    """Share of the runs of baseline and candidate that a policy judged."""
    untold: tuple[int, int] = (0, 0)
    """Runs of baseline and candidate of which it can not be told whether they broke a hard rule."""
    ended: Sequence[Broken] | None = None
    """Hard rules that the baseline breaks and the candidate does not: new if the sides are swapped."""

    def __post_init__(self) -> None:
        if not self.shares:
            raise ValueError("a comparison has no guard")

    @property
    def incomplete(self) -> str:
        """Why numbers read from these traces say nothing, or ''."""
        seen = self.shares[COMPLETENESS]
        low = [s.value for s in (seen.base, seen.cand) if s.value is not None]
        if not low or min(low) >= LEAST_COMPLETE:
            return ""
        return f"{min(low):.1%} of the traces of a side are complete, under {LEAST_COMPLETE:.0%}"

    @property
    def why_nothing(self) -> str:
        """Why there are no numbers, with what to do, or ''."""
        mend = "see which are not, and send their missing spans and usage"
        return f"not enough data: {self.incomplete}; {mend}" if self.incomplete else ""

    @property
    def swapped(self) -> "Guard":
        """The same with the sides exchanged."""
        shares = {name: Sides(base=s.cand, cand=s.base) for name, s in self.shares.items()}
        judged, untold = self.judged[::-1], self.untold[::-1]
        return replace(
            self, shares=shares, new=self.ended, ended=self.new, judged=judged, untold=untold
        )

    @property
    def less_judged(self) -> bool:
        """Whether the candidate's breaches could be among runs that only on its side nobody judged."""
        base, cand = self.judged
        return cand < base

    @property
    def nobody_knows(self) -> bool:
        """Whether there is no saying that the candidate breaks no rule anew."""
        return not self.new and (self.new is None or self.untold[1] > 0)

    @property
    def not_known(self) -> str:
        """Why nobody knows whether the candidate breaks a rule anew, or ''."""
        if self.new:
            return ""
        if untold := self.untold[1]:
            return UNTOLD.format(runs="1 run" if untold == 1 else f"{untold} runs")
        if self.new is None:
            return f"{NO_POLICY}; {MEND}"
        return LESS_JUDGED if self.less_judged else ""

    def says_nothing(self, metric: Measured) -> str:
        """Return why there is nothing to look at yet, or ''."""
        if self.incomplete:
            return self.incomplete
        seen = self.shares["unverified"]
        unverified = metric == "completion" and seen.base.value == seen.cand.value == 1
        unchecked = metric == "clean" and self.new is None
        return "no run is decided" if unverified or unchecked else ""

    @property
    def text(self) -> str:
        """What is said of new violations."""
        if self.nobody_knows:
            return self.not_known if self.untold[1] else NO_POLICY
        if not self.new:
            return f"no new violation{self._but}"
        rules = sorted({one.name for one in self.new})
        tasks = {one.task for one in self.new if one.task}
        where = f" at {len(tasks)} task{'' if len(tasks) == 1 else 's'}" if tasks else ""
        return f"new violations{where}: {', '.join(rules)}"

    @property
    def _but(self) -> str:
        if not self.unjudged:
            return ""
        return f"; {self.unjudged} run{'' if self.unjudged == 1 else 's'} no policy judged"

    def as_json(self) -> JsonValue:
        """Return the shares of both sides, and the new violations with runs to read."""
        new = None
        if not self.nobody_knows:
            new = [
                {"task": b.task, "rule": b.name, "runs": b.runs, "run_ids": list(b.run_ids)}
                for b in self.new or ()
            ]
        return {
            **{name: sides.as_json() for name, sides in self.shares.items()},
            "new_violations": {
                "n": None if new is None else len(new),
                "unjudged": self.unjudged,
                "items": new,
                "text": self.text,
            },
        }

    def over(self, decision: Decision, *, known: bool = True) -> Decision:
        """Return a decision with this guard applied: a new violation fails, whatever was won.

        known: whether nothing passes while nobody knows of violations; the rule may say otherwise.
        """
        if self.incomplete:
            return Decision(
                verdict=Verdict.NOT_ENOUGH_DATA, reason=self.incomplete, missing=decision.missing
            )
        passed = decision.verdict is Verdict.PASS
        if self.new:
            won = "shown, but " if passed else ""
            return replace(decision, verdict=Verdict.FAIL, reason=f"{won}{self.text}")
        if not passed or not self.not_known:
            return decision
        if known:
            return Decision(verdict=Verdict.NOT_ENOUGH_DATA, reason=self.not_known)
        return replace(decision, reason=f"{decision.reason}; {NOT_JUDGED}")


_COUNTED = ("checked", "claim_open", "no_rule_judged", "rules_unclear", "hard_unclear")
"""Parts that are counted beside the shares."""


def names_of(metric: Measured) -> Sequence[str]:
    """Return the shares that guard a metric."""
    return (*GUARDS[metric], COMPLETENESS)


def parted(metric: Measured, rows: str) -> str:
    """Return judged runs with a column for each part that is counted, as SQL."""
    of_shares = [part for name in names_of(metric) for part in (RATIOS[name].m, RATIOS[name].y)]
    return staged([*_COUNTED, *of_shares], rows)


def counted(metric: Measured) -> str:
    """Return what is counted within a cluster, as SQL over the rows of `parted`."""
    lines = [f"sum(is_{part}) AS {part}_n" for part in _COUNTED]
    for name in names_of(metric):
        ratio = RATIOS[name]
        lines += [f"sum(is_{ratio.m}) AS m_{name}", f"sum(is_{ratio.y}) AS y_{name}"]
    return ",\n    ".join(lines)


def added(metric: Measured) -> str:
    """Return what is added up over clusters, as SQL."""
    lines = [f"sum({part}_n) AS {part}" for part in _COUNTED]
    for name in names_of(metric):
        m, y = f"toFloat64(m_{name})", f"toFloat64(y_{name})"
        lines += [
            f"countIf(m_{name} > 0) AS clusters_{name}",
            f"sum({m}) AS sum_m_{name}",
            f"sum({y}) AS sum_y_{name}",
            f"sum({m} * {m}) AS mm_{name}",
            f"sum({m} * {y}) AS my_{name}",
            f"sum({y} * {y}) AS yy_{name}",
        ]
    return ",\n    ".join(lines)


def guard_of(
    rows: Sequence[Mapping[str, Any]], broken: Sequence[Broken], *, metric: Measured,
    base: str, cand: str, unit: str, confidence: float,
) -> Guard:  # fmt: skip
    """Return the guard from the rows of the statements `guard` and `broken`.

    unit: the key whose values runs come in, or `run`.
    """
    by_version = {row["version"]: row for row in rows}

    def rate(version: str, name: str) -> Rate:
        return _share(by_version.get(version, {}), name, unit=unit, confidence=confidence)

    def number(name: str) -> dict[str, int]:
        return {v: int(by_version.get(v, {}).get(name, 0)) for v in (base, cand)}

    checked, runs, unjudged = number("checked"), number("runs"), number("no_rule_judged")
    untold = number("hard_unclear")
    return Guard(
        shares={
            name: Sides(base=rate(base, name), cand=rate(cand, name)) for name in names_of(metric)
        },
        new=new_violations(broken, checked, base=base, cand=cand),
        unjudged=sum(unjudged.values()),
        judged=(_judged(unjudged[base], runs[base]), _judged(unjudged[cand], runs[cand])),
        untold=(untold[base], untold[cand]),
        ended=new_violations(broken, checked, base=cand, cand=base),
    )


def new_violations(
    broken: Sequence[Broken], checked: Mapping[str, float], *, base: str, cand: str
) -> Sequence[Broken] | None:
    """Return the hard rules that the candidate breaks where the baseline is not seen to.

    broken: by version, task and rule. At a task: a rule the baseline did not break there. Live
    (task ''): a rule that a larger share of the candidate's runs breaks. checked: runs of each
    version of which it can be told; without them on a side nobody knows, but what is seen is seen.
    """
    before = {(b.task, b.name): b.runs for b in broken if b.version == base}
    found = []
    for one in broken:
        if one.version != cand:
            continue
        runs = before.get((one.task, one.name), 0)
        more = not one.task and one.runs * checked[base] > runs * checked[cand]
        if runs == 0 or more:
            found.append(one)
    if not found and not (checked[base] and checked[cand]):
        return None
    return tuple(sorted(found, key=lambda b: (-b.runs, b.task, b.name)))


def _share(row: Mapping[str, Any], name: str, *, unit: str, confidence: float) -> Rate:
    seen = _moments(row, name)
    clustered = unit != "run"
    found = moments.share(seen, clustered=clustered, confidence=confidence)
    method = "korn-graubard" if clustered else "wilson"
    if name in NEVER and found is not None and seen.hits == 0:
        bound = zero_event_upper(seen.clusters, confidence=confidence)
        found, method = Estimate(value=0.0, low=0.0, high=bound), "exact upper bound"
    open_ = int(row.get("claim_open", 0)) if name == "false_claims" else 0
    if open_:
        found, method = open_bounds(seen.hits, seen.runs, open_), "bounds"
    unclear = int(row.get("rules_unclear", 0)) if name == "violations" else 0
    left = int(row.get("runs", 0)) - seen.runs - unclear
    excluded = {_LEFT_OUT.get(name, ""): left, "rules_unclear": unclear}
    return shown_rate(
        found,
        n=seen.clusters,
        unit=unit,
        method=method,
        open=open_,
        excluded={why: runs for why, runs in excluded.items() if why and runs},
        confidence=confidence,
    )


def _judged(unjudged: int, runs: int) -> float:
    return (runs - unjudged) / runs if runs else 1.0


_LEFT_OUT: Mapping[str, str] = {
    "violations": "no_rule_judged",
    "false_claims": "no_claim",
    "over_budget": "no_budget",
    "passed": "not_verified",
}


def _moments(row: Mapping[str, Any], name: str) -> Moments:
    if f"clusters_{name}" not in row:
        return Moments(clusters=0, m=0.0, y=0.0, mm=0.0, my=0.0, yy=0.0)
    return Moments(
        clusters=int(row[f"clusters_{name}"]), m=row[f"sum_m_{name}"], y=row[f"sum_y_{name}"],
        mm=row[f"mm_{name}"], my=row[f"my_{name}"], yy=row[f"yy_{name}"],
    )  # fmt: skip
