"""Seven surfaces side by side. Each keeps its own numbers; nothing here takes two of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.model import JsonValue
from scoring.metrics import moments
from scoring.metrics.definitions import SURFACES
from scoring.metrics.figures import Figure
from scoring.metrics.group import NANO, OF_TASKS, Group
from scoring.metrics.guards import (
    COMPLETENESS,
    completeness,
    cost_per_run,
    model_steps,
    over_budget,
    per_step,
    repeats,
    required_checks,
    too_incomplete,
    unapproved,
    violations,
    with_usage_told,
)
from scoring.metrics.moments import Moments, Own
from scoring.metrics.others import told_of
from scoring.metrics.ruled import Ruled, broken_share
from scoring.metrics.scope import BEHIND_PATH, Link
from scoring.stats.shown import shown_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderCount:
    """What became of one grader in a group of runs."""

    surface: str
    grader: str
    kind: str
    versions: Sequence[str]
    graded: int
    abstained: int
    failed: int
    not_applicable: int
    broken: int
    """Runs with a violation that it found."""
    seen: Moments
    """Passes of the labels that pass or fail."""
    own: Own
    """The shares of passes of the units themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceReport:
    """One surface: its own figures, with its authority."""

    name: str
    authority: str
    figures: Mapping[str, Figure]

    def as_json(self) -> JsonValue:
        """Return the surface with its figures."""
        figures = {name: figure.as_json() for name, figure in self.figures.items()}
        return {"name": self.name, "authority": self.authority, "figures": figures}


def seven(group: Group, graders: Sequence[GraderCount], rules: Ruled) -> list[SurfaceReport]:
    """Return the surfaces in their order, each with what the graders of that surface say."""
    own: Mapping[str, Mapping[str, Figure]] = {
        "outcome": outcome(group),
        "policy": policy(group, rules),
        "trajectory": trajectory(group),
        "efficiency": efficiency(group),
        "operations": operations(group),
    }
    why = too_incomplete(group)
    reports = []
    for name, authority in SURFACES.items():
        figures = {**own.get(name, {}), **by_grader(group, name, graders)}
        if not figures:
            text = f"no grader of surface {name} has run: add one to graders in gnomon.yaml"
            figures = {"graders": group.nothing(text, f"labels ({name})")}
        if why and name != "operations":
            figures = {key: figure.withheld(why) for key, figure in figures.items()}
        reports.append(SurfaceReport(name=name, authority=authority, figures=figures))
    return reports


def by_grader(group: Group, surface: str, graders: Sequence[GraderCount]) -> dict[str, Figure]:
    """Return the pass rate of each grader of one surface, with what it left out."""
    return {
        f"grader {count.grader}": _passes(group, count)
        for count in graders
        if count.surface == surface
    }


def _passes(group: Group, count: GraderCount) -> Figure:
    left = {
        "abstained": count.abstained,
        "grader_failed": count.failed,
        "not_applicable": count.not_applicable,
        "no_verdict": count.graded - count.seen.runs,
    }
    flags = [*group.flags(), *(["several_versions"] if len(count.versions) > 1 else [])]
    found = moments.share(count.seen, clustered=group.clustered, confidence=group.confidence)
    method = "korn-graubard" if group.clustered else "wilson"
    if group.by_task:
        found, method = moments.mean_share(count.own, confidence=group.confidence), OF_TASKS
    shown = shown_rate(
        found,
        n=count.seen.clusters,
        unit=group.unit,
        method=method,
        excluded=group.excluded | {reason: runs for reason, runs in left.items() if runs > 0},
        open=group.sums.parts["not_summed_up"],
        confidence=group.confidence,
        flags=flags,
    )
    versions = ", ".join(count.versions)
    text = f"{count.kind} grader, version {versions}"
    if not count.graded:
        text = f"{text}; it has graded no run, see its status on a run"
    elif group.by_task:
        text = f"{text}; {group.counted(count.own, count.seen)}"
    query = {**group.scope.query(), "grader": count.grader}
    figure = Figure(
        shown=shown,
        text=text,
        link=Link(path=BEHIND_PATH, query={**query, "verdict": "any"}, runs=count.seen.runs),
        hits=Link(path=BEHIND_PATH, query={**query, "verdict": "pass"}, runs=count.seen.hits),
    )
    return told_of(figure, group.others, grader=count.grader)


def outcome(group: Group) -> dict[str, Figure]:
    """Return verified completion, and the truth of what agents claim."""
    return {"completion": group.completion(), "false_claims": group.false_claims()}


def policy(group: Group, rules: Ruled) -> dict[str, Figure]:
    """Return violations per run by rule; without one, the upper bound."""
    return {
        "violations": violations(group),
        "unapproved": unapproved(group),
        **{
            f"rule {rule.policy}/{rule.rule}": broken_share(group, rule, rules)
            for rule in rules.broken
        },
    }


def trajectory(group: Group) -> dict[str, Figure]:
    """Return required checks and tool errors; graders of the surface stand beside."""
    return {
        "required_checks": required_checks(group),
        "tool_errors": per_step(group, "tool_errors"),
        "repeats": repeats(group),
    }


def efficiency(group: Group) -> dict[str, Figure]:
    """Return turns, calls and tokens per run and per success."""
    return {
        "steps_per_run": group.mean("steps", scale="steps"),
        "steps_per_success": group.mean("steps_solved", scale="steps", left_out="not_verified"),
        "tool_calls_per_run": group.mean("tool_calls", scale="calls"),
        "tool_calls_per_success": group.mean(
            "tool_calls_solved", scale="calls", left_out="not_verified"
        ),
        "model_calls_per_run": model_steps(group),
        "input_tokens_per_run": with_usage_told(
            group.mean("input_tokens", scale="tokens", left_out="no_usage"), group
        ),
        "output_tokens_per_run": with_usage_told(
            group.mean("output_tokens", scale="tokens", left_out="no_usage"), group
        ),
        "over_budget": over_budget(group),
    }


def operations(group: Group) -> dict[str, Figure]:
    """Return latency, errors, cost and how complete traces are; never withheld."""
    finished = group.sums.finished_ns
    return {
        "p50_latency": group.quantile(finished, 0.5, part="finished", scale="s", per=NANO),
        "p90_latency": group.quantile(finished, 0.9, part="finished", scale="s", per=NANO),
        "errors": group.share("errors"),
        "aborted": group.share("aborted"),
        "cost_per_run": cost_per_run(group),
        COMPLETENESS: completeness(group),
    }


def grader_of(row: Mapping[str, Any]) -> GraderCount:
    """Return one row of the statement `graders`."""
    seen = Moments(
        clusters=int(row["clusters"]), m=float(row["scored"]), y=float(row["passed"]),
        mm=float(row["mm"]), my=float(row["my"]), yy=float(row["yy"]),
    )  # fmt: skip
    own = Own(
        units=seen.clusters, shares=row["own_shares"], squares=row["own_squares"],
        inverse=row["own_inverse"],
    )  # fmt: skip
    numbers = ("graded", "abstained", "failed", "not_applicable", "broken")
    return GraderCount(
        surface=row["surface"],
        grader=row["grader"],
        kind=row["kind"],
        versions=tuple(sorted(row["versions"])),
        seen=seen,
        own=own,
        **{name: int(row[name]) for name in numbers},
    )
