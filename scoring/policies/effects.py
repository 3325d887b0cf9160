"""How often something took effect: per entity, and once for all calls that share a key."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from scoring.policies.actions import UNRESOLVED, Action, argument
from scoring.policies.language import Prohibited
from scoring.policies.sameness import groups
from scoring.policies.seeking import EVIDENCE
from scoring.policies.trajectory import Trajectory
from scoring.policies.verdict import Finding, Rule


@dataclass(slots=True)
class _Effects:
    """What happened to one entity: the calls of each effect."""

    sure: dict[Hashable, list[str]] = field(default_factory=dict)
    perhaps: dict[Hashable, list[str]] = field(default_factory=dict)
    """Nobody knows whether these took place, or whether they are one with another."""

    def steps(self) -> list[str]:
        every = (step for effects in (self.sure, self.perhaps) for step in _all(effects))
        return list(islice(every, EVIDENCE + 1))


def _all(effects: dict[Hashable, list[str]]) -> Iterator[str]:
    return (step for steps in effects.values() for step in steps)


def too_many(rule: Rule, asked: Prohibited, most: int, actions: Trajectory) -> Iterator[Finding]:
    """Yield a finding for each entity with more effects than allowed."""
    counted: list[tuple[Action, Sequence[object]]] = []
    for action in actions.of(asked.tool):
        if not action.may_have_committed:
            continue
        entity = [argument(action, name) for name in asked.per]
        if UNRESOLVED in entity:
            reason = f"{', '.join(asked.per)} of {asked.tool} was not recorded or is null"
            yield rule.unknown(reason, [action.step])
            continue
        counted.append((action, entity))
    for effects in _effects(counted, asked.idempotency):
        sure, perhaps = len(effects.sure), len(effects.perhaps.keys() - effects.sure.keys())
        if sure > most:
            message = f"{sure} effects of {asked.tool}, at most {most} allowed"
            yield rule.broken(message, effects.steps())
        elif sure + perhaps > most:
            reason = f"whether {perhaps} of the calls of {asked.tool} took effect is not known"
            yield rule.unknown(reason, effects.steps())
        else:
            yield rule.kept(*effects.steps()[:1])


def _effects(
    counted: Sequence[tuple[Action, Sequence[object]]], idempotency: str | None
) -> list[_Effects]:
    """Return what happened to each entity."""
    columns = zip(*(entity for _, entity in counted), strict=True)
    entities = list(zip(*map(groups, map(list, columns)), strict=True)) or [()] * len(counted)
    keys = [argument(action, idempotency) if idempotency else UNRESOLVED for action, _ in counted]
    named = list(groups(keys))
    found: dict[Hashable, _Effects] = {}
    for place, (action, _) in enumerate(counted):
        own = ("step", action.step) if keys[place] is UNRESOLVED else ("key", named[place])
        effects = found.setdefault(entities[place], _Effects())
        # A timeout may have been before or after the effect: what an agent found out by looking
        # stands in the looking, and is not read.
        open_ = not action.committed or (idempotency is not None and action.arguments is None)
        (effects.perhaps if open_ else effects.sure).setdefault(own, []).append(action.step)
    return list(found.values())
