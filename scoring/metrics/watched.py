"""What gnomon.yaml says to metrics and comparisons: units, slices, money of people, the rule."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from gnomon.watch import Watch
from scoring.stats.gates import Rule
from scoring.stats.sequential import MOST_LOOKS

SECTIONS = frozenset({"cluster_by", "slices", "compare", "metrics"})

TASK_KEY = "task_id"
"""The business key that names a task unless `compare.task` says another one."""

Measured = Literal["completion", "clean", "finished"]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RuleSection(_Section):
    """A decision rule, written before anybody looks. Changing it makes another rule."""

    metric: Measured = Field(
        default="completion",
        description="completion: verified right; clean: no hard violation; finished: not aborted.",
    )
    basis: Literal["tasks", "live"] = Field(
        default="tasks", description="The same tasks, or live runs of the same weeks."
    )
    agent: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="Whose runs count; unset: those of all agents."
    )
    environment: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="Where they ran; unset: anywhere."
    )
    origin: Literal["production", "shadow", "replay", "all"] | None = Field(
        default=None, description="Unset: all for tasks, production for live runs."
    )
    kind: Literal["non_inferiority", "superiority"] = "non_inferiority"
    margin: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None, description="A loss of this share or more fails (0.05 = 5 points)."
    )
    n: Annotated[int, Field(gt=0)] = Field(description="Units at the final look.")
    looks: Annotated[int, Field(ge=1, le=MOST_LOOKS)] = 1
    trials: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None,
        description="Runs of each task on each side: the first so many count. Unset: the first.",
    )
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    violations: Literal["none_new", "not_judged"] = Field(
        default="none_new",
        description="none_new: nothing passes unless policies judged both sides; not_judged: it may.",
    )

    @model_validator(mode="after")
    def _margin_fits(self) -> "RuleSection":
        if self.kind == "non_inferiority" and self.margin is None:
            raise ValueError("non_inferiority needs a margin, such as margin: 0.05")
        if self.kind == "superiority" and self.margin is not None:
            raise ValueError("superiority has no margin; drop it, or write kind: non_inferiority")
        if self.n < self.looks:
            raise ValueError("n must be at least the number of looks")
        if self.trials is not None and self.basis == "live":
            raise ValueError("trials counts runs of a task; drop it, or write basis: tasks")
        return self

    @property
    def counted_trials(self) -> int | None:
        """Runs of a task on each side that count; None for live runs."""
        return (self.trials or 1) if self.basis == "tasks" else None

    @property
    def counted_origin(self) -> str:
        """Origin of the runs that count, or `all`."""
        return self.origin or ("all" if self.basis == "tasks" else "production")

    def rule(self) -> Rule:
        """Return the rule as statistics know it."""
        return Rule(
            measure=f"{self.metric} on {self.basis}",
            kind=self.kind,
            limit=self.margin or 0.0,
            planned=self.n,
            looks=self.looks,
            trials=self.counted_trials,
            scope={
                "agent": self.agent or "",
                "environment": self.environment or "",
                "origin": self.counted_origin,
            },
            violations=self.violations,
            confidence=round(1 - self.alpha, 12),
        )


class CompareSection(_Section):
    """How two versions are compared."""

    task: str = Field(
        default=TASK_KEY, min_length=1, description="The business key that names a task."
    )
    slice: str | None = Field(
        default=None, description="The slice whose mix is taken out; else the first of `slices`."
    )
    rule: RuleSection | None = None


class MetricsSection(_Section):
    """What metrics need to know beside the runs."""

    people_usd_per_minute: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None, description="Price of a person's minute; unset: people are not priced."
    )


class MetricsWatched(_Section):
    """The part of gnomon.yaml that metrics and comparisons read."""

    cluster_by: str | None = Field(
        default=None, min_length=1, description="The business key whose values are units."
    )
    slices: dict[str, str] = Field(
        default={}, description="Name of a slice: the business key that holds its values."
    )
    compare: CompareSection = CompareSection()
    metrics: MetricsSection = MetricsSection()

    @field_validator("slices", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        if isinstance(value, list | tuple):
            return {str(name): str(name) for name in value}
        return value

    @model_validator(mode="after")
    def _slice_exists(self) -> "MetricsWatched":
        asked = self.compare.slice
        if asked is not None and asked not in self.slices:
            known = ", ".join(self.slices) or "none is configured"
            raise ValueError(f"compare.slice {asked} is no slice; known: {known}")
        return self

    @property
    def by_task(self) -> bool:
        """Whether somebody named the key of tasks: runs of one task are alike."""
        return "task" in self.compare.model_fields_set

    @property
    def mix_slice(self) -> str | None:
        """The slice over which the mix of two versions is compared."""
        return self.compare.slice or next(iter(self.slices), None)


def watched(watch: Watch) -> MetricsWatched:
    """Return the sections of metrics; raises ConfigError that names file, line and mend."""
    sections = {key: watch.data[key] for key in SECTIONS if watch.data.get(key) is not None}
    compare = sections.get("compare", {})
    if TASK_KEY in (watch.data.get("business_keys") or {}) and isinstance(compare, dict):
        # A source of the usual key names tasks as well as `compare.task` does.
        sections["compare"] = {"task": TASK_KEY, **compare}
    return watch.validate(sections, MetricsWatched)
