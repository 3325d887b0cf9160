"""Whether a run moved towards its end: repeated calls, cyclic states, distance to the end."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from gnomon.model import JsonValue
from scoring.grading.expect import value_at
from scoring.grading.port import Abstained, Answer, Evidence, Label, NotApplicable, Surface
from scoring.grading.spec import GraderSpec, Means
from scoring.policies.actions import Action, actions_of, untold
from scoring.policies.endings import MISSING
from scoring.policies.said import Names, Said
from scoring.policies.sameness import same
from scoring.policies.verdict import Held, Rule, RuleKind, Violation

Most = Annotated[int, Field(ge=0)] | None


class Goal(Said):
    """A call that must have succeeded before the run ends."""

    tool: Names = Field(description="One of these tools.")
    may_be_empty = frozenset({"path", "equals"})

    path: str = ""
    equals: JsonValue = None

    @model_validator(mode="after")
    def _whole(self) -> "Goal":
        if ("path" in self.model_fields_set) != ("equals" in self.model_fields_set):
            raise ValueError("path and equals go together")
        return self

    def reached(self, actions: Sequence[Action]) -> bool | None:
        """Return whether some call did it; None when that can not be known."""
        own = [action for action in actions if action.tool in self.tool]
        if any(action.succeeded and (not self.path or self._holds(action)) for action in own):
            return True
        return None if any(action.unknown for action in own) else False

    def _holds(self, action: Action) -> bool:
        value = value_at(action.result, self.path)
        return value is not MISSING and same(value, self.equals)


class Convergence(GraderSpec):
    """Limits to going in circles, and what must be reached."""

    type: Literal["convergence"]
    surface: Surface = Surface.EFFICIENCY
    max_repeats: Most = Field(
        default=None, description="Calls with tool and arguments of an earlier one, at most."
    )
    max_cycles: Most = Field(
        default=2, description="Calls with tool, arguments and result of an earlier one, at most."
    )
    terminal: tuple[Goal, ...] = Field(default=(), description="All must be reached.")

    def judge(self, means: Means) -> Callable[[Evidence], Answer]:
        """Return what counts."""
        del means
        return self._look

    def _look(self, evidence: Evidence) -> Answer:
        actions = actions_of(evidence.steps, {})
        if not actions and not self.terminal:
            return NotApplicable(reason="no tool was called")
        repeats = _again(actions, _call)
        cycles = _again(actions, _state)
        reached = [(goal, goal.reached(actions)) for goal in self.terminal]
        left = [goal for goal, done in reached if done is False]
        breaches = [
            *_above("max_repeats", self.max_repeats, repeats, "repeat an earlier call"),
            *_above("max_cycles", self.max_cycles, cycles, "lead back to an earlier state"),
        ]
        if left:
            names = ", ".join(" or ".join(goal.tool) for goal in left)
            breaches.append(_TERMINAL.broken(f"not reached: {names}", ()))
        blind = [action for action in actions if action.arguments is None]
        unseen = [goal for goal, done in reached if done is None]
        held = self._held(breaches, len(blind), len(left), len(unseen))
        if blind and not breaches:
            reason = f"arguments of {len(blind)} calls {untold(blind)}"
            steps = tuple(action.step for action in blind)
            return Abstained(reason=reason, evidence=steps, held=held)
        if unseen and not breaches:
            names = ", ".join(" or ".join(goal.tool) for goal in unseen)
            reason = f"how {names} ended was not recorded, or is not clear"
            return Abstained(reason=reason, held=held)
        said = f"{len(actions)} tool calls, {len(repeats)} repeated, {len(cycles)} cyclic"
        if self.terminal:
            said += f", distance to the end {len(left)}"
        return Label(
            passed=not breaches,
            score=float(len(left)) if self.terminal else float(len(cycles)),
            explanation=said,
            evidence=tuple(dict.fromkeys(step for one in breaches for step in one.steps)),
            violations=tuple(breaches),
            severity="soft",
            held=held,
        )

    def _held(
        self, breaches: Sequence[Violation], blind: int, left: int, unseen: int
    ) -> list[Held]:
        """Return what was judged: circles of the whole run, and each goal."""
        around = any(one.kind is RuleKind.CIRCLES for one in breaches)
        whole = "broken" if around else "unknown" if blind else "kept"
        reached = len(self.terminal) - left - unseen
        goals = Held(kind=RuleKind.GOAL, kept=reached, broken=left, unknown=unseen)
        return [Held(kind=RuleKind.CIRCLES, **{whole: 1}), *([goals] if self.terminal else [])]


_TERMINAL = Rule("terminal", RuleKind.GOAL)


def _above(rule: str, most: int | None, found: Sequence[str], what: str) -> list[Violation]:
    if most is None or len(found) <= most:
        return []
    message = f"{len(found)} calls {what}, at most {most} allowed"
    return [Rule(rule, RuleKind.CIRCLES).broken(message, tuple(found))]


def _again(actions: Sequence[Action], key: Callable[[Action], str | None]) -> list[str]:
    """Return the calls whose key was seen before."""
    seen: set[str] = set()
    again: list[str] = []
    for action in actions:
        found = key(action)
        if found is None:
            continue
        if found in seen:
            again.append(action.step)
        seen.add(found)
    return again


def canonical(arguments: Mapping[str, JsonValue], without: Sequence[str] = ()) -> str:
    """Return arguments as text that is equal for equal arguments."""
    kept = {name: value for name, value in arguments.items() if name not in without}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


def _call(action: Action) -> str | None:
    if action.arguments is None:
        return None
    return f"{action.tool} {canonical(action.arguments)}"


def _state(action: Action) -> str | None:
    call = _call(action)
    if call is None:
        return None
    result = json.dumps(action.result, sort_keys=True, ensure_ascii=False)
    return f"{call} {action.ending} {result}"
