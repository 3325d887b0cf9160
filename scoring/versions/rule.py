"""The decision rule: written in gnomon.yaml before anybody looks, hashed, and applied as it stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gnomon.model import JsonValue, Origin
from scoring.metrics.scope import Scope
from scoring.metrics.watched import MetricsWatched, RuleSection
from scoring.stats.gates import Decision, Look, Rule, Verdict, non_inferiority, superiority
from scoring.stats.planning import look_sizes
from scoring.stats.results import Shown

HASH_LENGTH = 12

NO_RULE = (
    "no rule is written: add compare.rule to gnomon.yaml before you look, such as"
    " {metric: completion, basis: tasks, margin: 0.05, n: 200}"
)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A rule with everything that its answer depends on: another unit or grader is another rule."""

    section: RuleSection
    task: str = ""
    """The key that names a task, for a rule about tasks."""
    cluster_by: str = ""
    by_task: str = ""
    """The key of tasks, for a rule about live runs: runs of one task are alike."""
    slices: Mapping[str, str]
    mix: str = ""
    """The slice whose mix is taken out, for a rule about live runs."""
    graders: Sequence[str] = ()
    """`surface name version` of those that say what passes and what breaks a rule."""

    @cached_property
    def rule(self) -> Rule:
        """The rule as statistics know it; its digest covers every field."""
        return replace(
            self.section.rule(),
            unit=self.task or self.cluster_by or self.by_task or "run",
            clusters=self.cluster_by or self.by_task,
            slices=self.slices,
            mix=self.mix,
            graders=tuple(self.graders),
        )

    @property
    def digest(self) -> str:
        """Twelve digits that name the rule: the first of the SHA-256 of its canonical JSON."""
        return self.rule.digest()[:HASH_LENGTH]

    @property
    def scope(self) -> Scope:
        """The runs the rule is about: of no others does it say anything."""
        section = self.section
        origin = section.counted_origin
        return Scope(
            agent=section.agent,
            environment=section.environment,
            origin=None if origin == "all" else Origin(origin),
        )

    @property
    def trials(self) -> int | None:
        """Runs of a task on each side that count, the first so many; None for live runs."""
        return self.section.counted_trials

    @property
    def sizes(self) -> Sequence[int]:
        """Units at which the rule may be looked at."""
        return look_sizes(self.section.n, self.section.looks)

    @property
    def confidence(self) -> float:
        """Confidence of the interval at each look."""
        return self.rule.look_confidence()

    @property
    def violations_known(self) -> bool:
        """Whether nothing passes while nobody knows of violations."""
        return self.section.violations == "none_new"

    @property
    def text(self) -> str:
        """The rule in words."""
        return said(self.section, mix=self.mix)

    def as_json(self) -> JsonValue:
        """Return the rule as it is hashed, and in words."""
        pins = {
            "unit": self.rule.unit,
            "clusters": self.rule.clusters,
            "slices": dict(self.slices),
            "mix": self.mix,
            "trials": self.trials,
            "origin": self.section.counted_origin,
            "graders": list(self.graders),
        }
        return {**self.section.model_dump(), **pins, "text": self.text}


def plan_of(watched: MetricsWatched, graders: Sequence[str] = ()) -> Plan | None:
    """Return the rule of gnomon.yaml with what it depends on, or None without one."""
    section = watched.compare.rule
    if section is None:
        return None
    return Plan(
        section=section,
        task=watched.compare.task if section.basis == "tasks" else "",
        cluster_by=watched.cluster_by or "",
        by_task=watched.compare.task if watched.by_task and section.basis == "live" else "",
        slices=watched.slices if section.basis == "live" else {},
        mix=(watched.mix_slice or "") if section.basis == "live" else "",
        graders=tuple(sorted(graders)),
    )


def said(rule: RuleSection, *, mix: str = "") -> str:
    """Return the rule in words; mix: the slice inside which versions are compared."""
    looks = f" in {rule.looks} looks" if rule.looks > 1 else ""
    trials = ""
    if rule.counted_trials is not None:
        several = f" {rule.counted_trials} runs" if rule.counted_trials > 1 else " run"
        trials = f", the first{several} of each side"
    level = f"{100 * (1 - rule.alpha):g} %"
    if rule.kind == "superiority":
        asked = "is better"
    else:
        asked = f"is not worse by {100 * (rule.margin or 0):g} points"
    kept = ", without a new violation"
    if rule.violations == "not_judged":
        kept += " where a policy judges the runs"
    measured = f"{rule.metric} on {rule.basis} of {about(rule)}"
    if mix:
        measured = f"{measured.removesuffix(',')}, the mix of {mix} taken out,"
    return f"{measured} {asked}, shown at {level} with n = {rule.n}{looks}{trials}{kept}"


def about(rule: RuleSection) -> str:
    """Return which runs a rule is about, in words."""
    agent = rule.agent or "all agents"
    where = f" in {rule.environment}" if rule.environment else " in all environments"
    return f"{agent}{where}" + (f", origin {rule.origin}," if rule.origin else "")


def decided(plan: Plan, found: Shown, *, n: int) -> Decision:
    """Return what the rule says of a difference over the first `n` units, at a planned look."""
    look = Look(n=n, planned=plan.section.n, looks=plan.section.looks)
    if plan.section.kind == "superiority":
        return superiority(found, look)
    return non_inferiority(found, plan.section.margin or 0.0, look)


def undecided(reason: str, missing: int = 0) -> Decision:
    """Return that there is no verdict yet, and why."""
    return Decision(verdict=Verdict.NOT_ENOUGH_DATA, reason=reason, missing=missing)
