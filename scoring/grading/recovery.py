"""Whether a run got over the errors of its tools, and without doing anything twice."""

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import Literal

from pydantic import Field

from scoring.grading.convergence import canonical
from scoring.grading.port import Abstained, Answer, Evidence, Label, NotApplicable, Surface
from scoring.grading.spec import GraderSpec, Means
from scoring.policies.actions import Action, actions_of
from scoring.policies.endings import Ending
from scoring.policies.said import Names
from scoring.policies.sameness import groups
from scoring.policies.verdict import Held, Rule, RuleKind, Violation


class Recovery(GraderSpec):
    """After an error the same goal is reached, and no write takes effect twice."""

    type: Literal["recovery"]
    surface: Surface = Surface.TRAJECTORY
    writes: Names = Field(default=(), description="Tools whose effects are counted.")
    idempotency: str | None = Field(
        default=None, description="Argument that names the effect: calls that share it are one."
    )
    volatile: Names = Field(default=(), description="Arguments that may differ in a retry.")
    goals: dict[str, Names] = Field(
        default={}, description="Tool: others whose success reaches the same goal."
    )

    def judge(self, means: Means) -> Callable[[Evidence], Answer]:
        """Return what follows the errors."""
        del means
        return self._look

    def _look(self, evidence: Evidence) -> Answer:
        actions = actions_of(evidence.steps, {})
        errors = {step.span_id for step in evidence.steps if step.status == "error"}
        broken = [action for action in actions if _broke(action, errors)]
        duplicates, perhaps, effects = self._duplicates(actions)
        if not broken and not duplicates and not perhaps:
            return NotApplicable(reason="no tool failed", held=effects)
        regained = [(action, self._regained(action, actions)) for action in broken]
        blind = [action.step for action, again in regained if again is None]
        lost = [action for action, again in regained if again is False]
        again = len(broken) - len(lost) - len(blind)
        goals = Held(kind=RuleKind.GOAL, kept=again, broken=len(lost), unknown=len(blind))
        held = [*effects, goals]
        breaches = [
            _RECOVERED.broken(
                f"{action.tool} ended as {action.ending} and its goal was never reached",
                (action.step,),
            )
            for action in lost
        ]
        breaches += duplicates
        if blind and not breaches:
            reason = f"too little of {len(blind)} failed calls or of what followed was recorded"
            return Abstained(reason=reason, evidence=tuple(blind), held=held)
        if perhaps and not breaches:
            reason = (
                "whether writes with the same arguments took effect more than once is not known"
            )
            return Abstained(reason=reason, evidence=perhaps, held=held)
        return Label(
            passed=not breaches,
            score=1 - len(lost) / len(broken) if broken else None,
            explanation=(
                f"{len(broken)} failed calls, {len(broken) - len(lost)} recovered,"
                f" {sum(len(one.steps) - 1 for one in duplicates)} writes doubled"
            ),
            evidence=tuple(dict.fromkeys(step for one in breaches for step in one.steps)),
            violations=tuple(breaches),
            held=held,
        )

    def _regained(self, lost: Action, actions: Sequence[Action]) -> bool | None:
        """Return whether a later call reached the goal; None when that can not be known."""
        others = self.goals.get(lost.tool, ())
        wanted = self._identity(lost)

        def again(action: Action) -> bool:
            return action.tool == lost.tool and self._identity(action) == wanted

        later = [
            action
            for action in actions
            if action.started >= lost.ended
            and action is not lost
            and (action.tool in others or (wanted is not None and again(action)))
        ]
        if any(action.succeeded for action in later):
            return True
        return None if wanted is None or any(action.unknown for action in later) else False

    def _identity(self, action: Action) -> str | None:
        """Return a call without what may differ when it is made again."""
        ignored = [*self.volatile, *([self.idempotency] if self.idempotency else [])]
        return None if action.arguments is None else canonical(action.arguments, ignored)

    def _duplicates(
        self, actions: Sequence[Action]
    ) -> tuple[list[Violation], tuple[str, ...], list[Held]]:
        """Return the writes that took effect more than once, the calls of those that may have, and what was held."""
        writes: dict[tuple[str, str], list[Action]] = {}
        unknown = 0
        for action in actions:
            if action.tool not in self.writes or not action.may_have_committed:
                continue
            identity = self._identity(action)
            if identity is None:
                unknown += 1
            else:
                writes.setdefault((action.tool, identity), []).append(action)
        twice, perhaps = [], []
        for (tool, _), calls in writes.items():
            sure = self._effects([call for call in calls if call.committed])
            most = self._effects(calls)
            if len(sure) > 1:
                twice.append(
                    _ONCE.broken(f"{len(sure)} effects of {tool} with the same arguments", sure)
                )
            elif len(most) > 1:
                perhaps.append(most)
        held = Held(
            kind=_ONCE.kind,
            kept=len(writes) - len(twice) - len(perhaps),
            broken=len(twice),
            unknown=unknown + len(perhaps),
        )
        return (
            twice,
            tuple(step for steps in perhaps for step in steps),
            [held] if self.writes else [],
        )

    def _effects(self, calls: Sequence[Action]) -> tuple[str, ...]:
        """Return the first call of each effect: calls that share the idempotency key are one."""
        keys = [
            None if self.idempotency is None or call.arguments is None
            else call.arguments.get(self.idempotency)
            for call in calls
        ]  # fmt: skip
        effects: dict[Hashable, str] = {}
        for call, key, named in zip(calls, keys, groups(keys), strict=True):
            effects.setdefault(("step", call.step) if key is None else ("key", named), call.step)
        return tuple(effects.values())


_RECOVERED = Rule("recovered", RuleKind.GOAL)
_ONCE = Rule("once", RuleKind.EFFECTS)


def _broke(action: Action, errors: Set[str]) -> bool:
    """Return whether a tool failed; an answer that says no (`ok: false`) is no failure."""
    if action.ambiguous:
        return True
    told = isinstance(action.result, Mapping) and bool(action.result.get("error"))
    return action.ending is Ending.FAILED and (told or action.step in errors)
