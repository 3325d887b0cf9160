"""Row types of scoring's tables: what is stored of a judgment, and of a finished window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from gnomon.clock import Nanos
from gnomon.model import Origin, RunId
from scoring.grading.port import GraderKind, Severity, State, Surface
from scoring.policies.verdict import Held, Outcome, RuleKind


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


class HeldColumns(TypedDict):
    """What was held against calls, as columns of a status: lists about the same kinds of rules."""

    held_kinds: Sequence[str]
    held_kept: Sequence[int]
    held_broken: Sequence[int]
    held_unknown: Sequence[int]


def held_columns(held: Sequence[Held]) -> HeldColumns:
    """Return what was held against calls as a status stores it."""
    return HeldColumns(
        held_kinds=tuple(str(one.kind) for one in held),
        held_kept=tuple(one.kept for one in held),
        held_broken=tuple(one.broken for one in held),
        held_unknown=tuple(one.unknown for one in held),
    )


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
    held_kinds: Sequence[str] = ()
    """Kinds of the rules that were held against calls; the next three are about the same kinds."""
    held_kept: Sequence[int] = ()
    held_broken: Sequence[int] = ()
    held_unknown: Sequence[int] = ()
    tries: int = 0
    """How often the world was asked that did not answer for now."""
    again_at: Nanos | None = None
    """When it is asked again; None: it answered, or nobody asks again."""
    at: Nanos

    @property
    def held(self) -> list[Held]:
        """Against how many calls rules of which kind were held."""
        counts = zip(
            self.held_kinds, self.held_kept, self.held_broken, self.held_unknown, strict=True
        )
        return [
            Held(kind=RuleKind(kind), kept=kept, broken=broken, unknown=unknown)
            for kind, kept, broken, unknown in counts
        ]


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
    conduct: Outcome
    """What became of all rules: of graders of policy and trajectory, and of others that found breaches."""
    hard_conduct: Outcome
    """Of the hard ones; a rule that could not be judged may be one."""
    budget: Outcome
    """What became of the budgets that the run was held against, by whichever grader."""
    checks: Outcome
    """Of the calls that need another one before them, approvals included."""
    effects: Outcome
    """Of the effects that may take place only so often."""
    gated_actions: int
    """Calls that needed an approval and of which it is known whether they had one."""
    unapproved_actions: int
    """Those of them that had none."""
    unclear_actions: int
    """Calls of which it is not known."""
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
    held = {name: tuple(row[name]) for name in HeldColumns.__annotations__}
    return StatusRow(**{**_shared(row), **held, "state": State(row["state"])})


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
