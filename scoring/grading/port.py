"""What a grader is, and the three answers it may give. The version is stored with every label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from gnomon.model import Bodies, JsonValue, Run, Step
from scoring.policies.verdict import Held, Violation

GROUP = "gnomon.graders"
"""Entry points of this group make graders: they are called with the options of gnomon.yaml."""

Severity = Literal["hard", "soft"]


class Surface(StrEnum):
    """What a judgment is about. Surfaces are never added up."""

    OUTCOME = "outcome"
    POLICY = "policy"
    TRAJECTORY = "trajectory"
    FACTUALITY = "factuality"
    CONVERSATION = "conversation"
    EFFICIENCY = "efficiency"
    OPERATIONS = "operations"


class GraderKind(StrEnum):
    """Who judges."""

    CODE = "code"
    MODEL = "model"
    HUMAN = "human"


class State(StrEnum):
    """What became of a grader and a run."""

    GRADED = "graded"
    ABSTAINED = "abstained"
    FAILED = "failed"
    """The grader broke; says nothing about the run."""
    NOT_APPLICABLE = "not_applicable"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A judgment."""

    passed: bool | None = None
    """None for a grader that only measures."""
    score: float | None = None
    claimed: bool | None = None
    """Whether the agent itself said that the task is done."""
    explanation: str = ""
    evidence: Sequence[str] = ()
    """Span ids."""
    violations: Sequence[Violation] = ()
    severity: Severity = "hard"
    held: Sequence[Held] = ()
    """Against how many calls rules of which kind were held: what a number of breaches is read against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstained:
    """The grader looked and can not decide: the evidence is missing or says nothing."""

    reason: str
    claimed: bool | None = None
    evidence: Sequence[str] = ()
    held: Sequence[Held] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplicable:
    """There is nothing in this run that the grader speaks of."""

    reason: str
    held: Sequence[Held] = ()
    """What it looked at all the same, and found in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderFailed:
    """The grader broke. Never a low score."""

    reason: str
    for_now: bool = False
    """The world may answer later: a few later ticks ask again."""


Answer = Label | Abstained | NotApplicable


class CheckFailed(Exception):
    """The world did not answer a check: recorded as a failure of the grader.

    The next ticks do not ask again, for the same would come of it; `gnomon graders backfill
    --which failed` does.
    """


class TryAgain(CheckFailed):
    """It did not answer for now (away, busy, too slow): a few later ticks ask again."""


class Evidence(Protocol):
    """What a grader gets to see of one settled run."""

    @property
    def run(self) -> Run:
        """The run."""

    @property
    def steps(self) -> Sequence[Step]:
        """Its counted steps in order of start, ties by span id."""

    @property
    def final_message(self) -> str | None:
        """The agent's last words, whole; None where nobody recorded them."""

    @property
    def final_json(self) -> JsonValue:
        """The JSON in the final message, or None."""

    def bodies(self, steps: Sequence[Step]) -> Sequence[Bodies]:
        """What these steps read and wrote; read from the store when asked for."""


class Grader(Protocol):
    """A versioned procedure from evidence to a judgment."""

    @property
    def name(self) -> str:
        """Unique among the graders of gnomon.yaml."""

    @property
    def version(self) -> str:
        """Raised by every change of meaning."""

    @property
    def surface(self) -> Surface:
        """What it judges."""

    @property
    def kind(self) -> GraderKind:
        """Who judges."""

    def grade(self, evidence: Evidence) -> Answer:
        """Look at one settled run. Raising means the grader broke, not that the run is bad."""


def reduced(answer: "Label | Abstained | NotApplicable | GraderFailed") -> bool | None:
    """Return what an answer adds to a pass rate, or None when it adds nothing."""
    match answer:
        case Label(passed=passed):
            return passed
        case Abstained() | NotApplicable() | GraderFailed():
            return None


def key_of(run: Run, name: str) -> str | None:
    """Return a business key of a run, or one of the facts that name it."""
    facts: Mapping[str, str | None] = {
        "run_id": run.run_id,
        "conversation_id": run.conversation_id,
        "user_id": run.user_id,
        "agent_name": run.agent_name,
        "agent_version": run.agent_version,
    }
    return run.business_keys.get(name) or facts.get(name)
