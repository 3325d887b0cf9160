"""What a run did, as metrics count it: model calls, repeats, and what people had to do; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gnomon.model import Kind, Step

_MODEL = (Kind.LLM, Kind.EMBEDDING)
_APPROVED = frozenset({"approve", "approved", "accept", "accepted", "allow", "allowed", "yes"})
_AUTOMATIC = frozenset({"config", "hook", "auto", "automatic", "policy", "rule"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Acts:
    """The counted steps of one run, added up."""

    model_steps: int
    steps_without_usage: int
    """Model steps that went well and tell no tokens."""
    told_calls: int
    """Tool calls whose name and arguments are known: only they can be seen to repeat."""
    repeats: int
    people_steps: int
    """Steps of people, and steps that carry a decision: the evidence that people are recorded."""
    interventions: int
    approvals: int
    """By people; automatic ones are apart."""
    auto_approvals: int
    decisions: int
    overrides: int
    """Decisions that are no approval."""
    waiting_ns: int
    decision_ns: Sequence[int]
    call_tokens: Sequence[int]


def acts_of(steps: Iterable[Step]) -> Acts:
    """Return what the counted steps of a run amount to."""
    steps = [step for step in steps if step.counted]
    model = [step for step in steps if step.kind in _MODEL]
    silent = [step for step in model if step.input_tokens is None and step.output_tokens is None]
    told = [
        (step.tool_name, step.tool_arguments)
        for step in steps
        if step.kind is Kind.TOOL and step.tool_name is not None and step.tool_arguments is not None
    ]
    people = [step for step in steps if step.kind is Kind.HUMAN]
    decided = [step for step in steps if step.decision is not None]
    own = [step for step in decided if not _automatic(step)]
    return Acts(
        model_steps=len(model),
        steps_without_usage=sum(step.status == "ok" for step in silent),
        told_calls=len(told),
        repeats=len(told) - len(set(told)),
        people_steps=len(people) + sum(step.kind is not Kind.HUMAN for step in decided),
        interventions=sum(not _approved(step) for step in people),
        approvals=sum(map(_approved, own)),
        auto_approvals=sum(_approved(step) for step in decided if _automatic(step)),
        decisions=len(own),
        overrides=sum(not _approved(step) for step in own),
        waiting_ns=sum(step.duration_ns for step in people),
        decision_ns=[step.duration_ns for step in own if step.kind is Kind.HUMAN],
        call_tokens=[
            (step.input_tokens or 0) + (step.output_tokens or 0)
            for step in model
            if step.input_tokens is not None or step.output_tokens is not None
        ],
    )


def _approved(step: Step) -> bool:
    return step.decision is not None and step.decision.lower() in _APPROVED


def _automatic(step: Step) -> bool:
    return step.decision_source is not None and step.decision_source.lower() in _AUTOMATIC
