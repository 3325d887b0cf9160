"""The rules about order: what must come before, what must follow, what must never be."""

from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal

from scoring.policies.actions import Action, Ending, Trajectory
from scoring.policies.binding import UNRESOLVED, argument, bound, wanted
from scoring.policies.language import AfterAmbiguous, Prohibited, Requirement, When
from scoring.policies.sameness import groups, number, same
from scoring.policies.verdict import Finding, NotEvaluable, Violation


def required_before(
    rule: str, target: str, requirement: Requirement, actions: Trajectory
) -> Iterator[Finding]:
    """Yield a finding for each call of the target that the required call did not precede."""
    for judged in actions.of(target):
        yield from _preceded(rule, judged, requirement, actions)


def _preceded(
    rule: str, judged: Action, requirement: Requirement, actions: Trajectory
) -> Iterator[Finding]:
    values = wanted(requirement.bind, judged, actions)
    for action in reversed(actions.before(requirement.tool, judged.started)):
        in_time = action is not judged and action.ended <= judged.started
        if in_time and action.succeeded and bound(action, values):
            return
    doubtful: list[str] = []
    seen: list[Action] = []
    for action in actions.of(requirement.tool):
        about = None if action is judged else bound(action, values)
        if action is judged or about is False:
            continue
        seen.append(action)
        in_time = action.ended <= judged.started
        if in_time and (action.ending is Ending.UNRECORDED or (action.succeeded and about is None)):
            doubtful.append(action.step)
    if doubtful:
        reason = f"arguments or result of {requirement.tool} were not recorded"
        yield NotEvaluable(rule=rule, reason=reason, steps=[judged.step, *doubtful])
        return
    why = _why_not(seen, judged)
    yield Violation(
        rule=rule,
        message=f"{judged.tool} without {requirement.tool} before it{why}",
        steps=[judged.step, *(action.step for action in seen)],
    )


def _why_not(seen: Sequence[Action], judged: Action) -> str:
    """Say what the nearest candidate lacked."""
    if not seen:
        return ""
    last = seen[-1]
    if last.started >= judged.started:
        return " (it came after)"
    if last.ended > judged.started:
        return " (it had not finished)"
    return f" (it ended as {last.ending})"


def conditionally_required(
    rule: str, target: str, requirement: Requirement, when: When, actions: Trajectory
) -> Iterator[Finding]:
    """Yield findings for the calls of the target that the condition holds for."""
    for judged in actions.of(target):
        holds = condition(when, argument(judged, when.arg))
        if holds is None:
            reason = f"argument {when.arg} of {target} was not recorded or is no number"
            yield NotEvaluable(rule=rule, reason=reason, steps=[judged.step])
        elif holds:
            yield from _preceded(rule, judged, requirement, actions)


def condition(when: When, value: object) -> bool | None:
    """Return whether a condition holds for a value; None when that can not be known."""
    if value is UNRESOLVED:
        return None
    if "equals" in when.model_fields_set:
        return same(value, when.equals)
    if when.one_of is not None:
        return any(same(value, item) for item in when.one_of)
    found = number(value)
    return None if found is None else _compared(when, found)


def _compared(when: When, value: Decimal) -> bool:
    if when.above is not None:
        return value > when.above
    if when.at_least is not None:
        return value >= when.at_least
    if when.below is not None:
        return value < when.below
    return when.at_most is not None and value <= when.at_most


def after_ambiguous(
    rule: str, target: str, asked: AfterAmbiguous, actions: Trajectory
) -> Iterator[Finding]:
    """Yield a finding for each write of unknown result that was not followed as it must be."""
    for judged in actions.of(target):
        if judged.ending is not Ending.AMBIGUOUS:
            continue
        values = wanted(asked.bind, judged, actions)
        follower = next(
            (
                action
                for action in actions.since(judged.ended)
                if action.tool in asked.related
                and action is not judged
                and bound(action, values) is not False
            ),
            None,
        )
        if follower is None:
            if asked.must_follow:
                message = f"{target} ended ambiguously and {asked.next_must_be} never followed"
                yield Violation(rule=rule, message=message, steps=[judged.step])
        elif follower.tool != asked.next_must_be:
            message = f"{follower.tool} came after an ambiguous {target}, not {asked.next_must_be}"
            yield Violation(rule=rule, message=message, steps=[judged.step, follower.step])


def prohibited(rule: str, asked: Prohibited, actions: Trajectory) -> Iterator[Finding]:
    """Yield a finding for each prohibited relation or number of effects."""
    if asked.max_committed is not None:
        yield from _too_many(rule, asked, asked.max_committed, actions)
    elif asked.before is not None:
        yield from _too_early(rule, asked, asked.before, actions)
    elif asked.after is not None:
        yield from _too_late(rule, asked, asked.after, actions)
    else:
        for judged in actions.of(asked.tool):
            yield Violation(rule=rule, message=f"{asked.tool} is prohibited", steps=[judged.step])


def _too_early(rule: str, asked: Prohibited, other: str, actions: Trajectory) -> Iterator[Finding]:
    """A call that came first, where the other one came only afterwards."""
    for judged in actions.of(asked.tool):
        values = wanted(asked.bind, judged, actions)
        if any(
            one.ended <= judged.started and one.succeeded and bound(one, values) is not False
            for one in reversed(actions.before(other, judged.started))
        ):
            continue
        later = [
            one.step
            for one in actions.of(other)
            if one.ended > judged.started and bound(one, values) is not False
        ]
        if later:
            message = f"{asked.tool} came before {other}"
            yield Violation(rule=rule, message=message, steps=[judged.step, *later])


def _too_late(rule: str, asked: Prohibited, other: str, actions: Trajectory) -> Iterator[Finding]:
    for judged in actions.of(asked.tool):
        values = wanted(asked.bind, judged, actions)
        earlier = [
            one.step
            for one in actions.before(other, judged.started)
            if one is not judged
            and one.succeeded
            and one.ended <= judged.started
            and bound(one, values) is not False
        ]
        if earlier:
            message = f"{asked.tool} came after {other}"
            yield Violation(rule=rule, message=message, steps=[judged.step, *earlier])


def _too_many(rule: str, asked: Prohibited, most: int, actions: Trajectory) -> Iterator[Finding]:
    """Count effects that took place or may have; one recognised as a repeat is none."""
    counted: list[tuple[Action, Sequence[object]]] = []
    for action in actions.of(asked.tool):
        if not action.may_have_committed:
            continue
        entity = [argument(action, name) for name in asked.per]
        if UNRESOLVED in entity:
            reason = f"{', '.join(asked.per)} of {asked.tool} was not recorded"
            yield NotEvaluable(rule=rule, reason=reason, steps=[action.step])
            continue
        counted.append((action, entity))
    for effects in _effects(counted, asked.idempotency).values():
        if len(effects) > most:
            message = f"{len(effects)} effects of {asked.tool}, at most {most} allowed"
            steps = [step for group in effects.values() for step in group]
            yield Violation(rule=rule, message=message, steps=steps)


def _effects(
    counted: Sequence[tuple[Action, Sequence[object]]], idempotency: str | None
) -> dict[Hashable, dict[Hashable, list[str]]]:
    """Return by entity and by effect the steps of the calls that made it."""
    columns = zip(*(entity for _, entity in counted), strict=True)
    entities = list(zip(*map(groups, map(list, columns)), strict=True)) or [()] * len(counted)
    keys = [argument(action, idempotency) if idempotency else UNRESOLVED for action, _ in counted]
    found: dict[Hashable, dict[Hashable, list[str]]] = {}
    for (action, _), entity, key, named in zip(counted, entities, keys, groups(keys), strict=True):
        effect = ("step", action.step) if key is UNRESOLVED else ("key", named)
        found.setdefault(entity, {}).setdefault(effect, []).append(action.step)
    return found
