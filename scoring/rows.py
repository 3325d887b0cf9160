"""Row types of scoring's tables: what is stored of a judgment, and of a finished window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.clock import Nanos
from gnomon.model import Origin, RunId
from scoring.grading.port import GraderKind, Severity, State, Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfRun:
    """The run a row speaks of, with what lists filter by."""

    started_at: Nanos
    run_id: RunId
    revision: int
    agent_name: str | None = None
    agent_version: str | None = None
    environment: str = ""
    origin: Origin = Origin.PRODUCTION


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRow(_OfRun):
    """Whether a grader ran on a run, and why not."""

    grader: str
    grader_version: str
    surface: Surface
    kind: GraderKind
    state: State
    why: str = ""
    violations: int = 0
    """How many breaches the judgment has."""
    tries: int = 0
    """How often the world was asked that did not answer for now."""
    again_at: Nanos | None = None
    """When it is asked again; None: it answered, or nobody asks again."""
    at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow(_OfRun):
    """One judgment."""

    grader: str
    grader_version: str
    surface: Surface
    kind: GraderKind
    passed: bool | None = None
    """None: the grader only measures, or could not verify what was claimed."""
    score: float | None = None
    claimed: bool | None = None
    explanation: str = ""
    evidence: Sequence[str] = ()
    """Span ids."""
    at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationRow(_OfRun):
    """One breach of one rule."""

    policy: str
    policy_version: str
    place: int
    """Number within the judgment."""
    rule: str
    message: str
    severity: Severity
    steps: Sequence[str]
    """Span ids: the judged call first."""
    at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow:
    """What all graders together say of a run at one revision, and what its steps did."""

    started_at: Nanos
    run_id: RunId
    revision: int
    verified: int
    """1 right, 0 wrong, -1 nobody knows; by code, else by people, never by a model or the agent."""
    claimed: bool
    claim_held: int
    """1 what the agent claims is so, 0 it is not, -1 nobody could tell."""
    people_judged: bool
    people_passed: bool
    rules_judged: bool
    """Somebody looked for broken rules: a grader of policy or trajectory, or one that found some."""
    policies_judged: bool
    budgets_judged: bool
    rule_broken: bool
    hard: bool
    budget_hit: bool
    checks_missed: bool
    gates_broken: bool
    doubled: bool
    graders: Sequence[str]
    """Each with the newest version that looked; the next five are about the same graders."""
    grader_versions: Sequence[str]
    surfaces: Sequence[str]
    kinds: Sequence[str]
    states: Sequence[str]
    passes: Sequence[int]
    """1 pass, 0 fail, -1 neither."""
    policies: Sequence[str]
    """Of every rule that was broken, once."""
    rules: Sequence[str]
    severities: Sequence[str]
    model_steps: int
    steps_without_usage: int
    told_calls: int
    repeats: int
    people_steps: int
    interventions: int
    approvals: int
    auto_approvals: int
    decisions: int
    overrides: int
    waiting_ns: int
    decision_ns: Sequence[int]
    call_tokens: Sequence[int]
    judged_at: Nanos
    """When the last of its judgments was made."""
    at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRow:
    """A finished window of a job."""

    job: str
    window_start: Nanos
    window_end: Nanos
    rows: int
    finished_at: Nanos


def status(row: Mapping[str, Any]) -> StatusRow:
    """Return a status from a row by column name."""
    return StatusRow(**{**_shared(row), "state": State(row["state"])})


def label(row: Mapping[str, Any]) -> LabelRow:
    """Return a label from a row by column name."""
    return LabelRow(**{**_shared(row), "evidence": tuple(row["evidence"])})


def violation(row: Mapping[str, Any]) -> ViolationRow:
    """Return a violation from a row by column name."""
    return ViolationRow(
        **{**row, "origin": Origin(row["origin"]), "steps": tuple(row["steps"])},
    )


def _shared(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "origin": Origin(row["origin"]),
        "surface": Surface(row["surface"]),
        "kind": GraderKind(row["kind"]),
    }
