"""The rules about order: what must come before, what must follow, what must never be."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from scoring.policies.actions import UNRESOLVED, Action, argument
from scoring.policies.binding import wanted
from scoring.policies.effects import too_many
from scoring.policies.endings import Ending
from scoring.policies.language import AfterAmbiguous, Prohibited, Requirement, When
from scoring.policies.sameness import number, same
from scoring.policies.seeking import (
    doubtful_before,
    ended_later,
    nearest,
    order,
    reactions,
    succeeded_before,
)
from scoring.policies.trajectory import Standing, Trajectory
from scoring.policies.verdict import Finding, NotEvaluable, Rule, Violation


def required_before(
    rule: Rule, target: str, requirement: Requirement, actions: Trajectory
) -> Iterator[Finding]:
    """Yield a finding for each call of the target that the required call did not precede."""
    for judged in actions.of(target):
        yield from _preceded(rule, judged, requirement, actions, Standing.RELIED)


def _preceded(
    rule: Rule, judged: Action, requirement: Requirement, actions: Trajectory, standing: Standing
) -> Iterator[Finding]:
    values = wanted(requirement.bind, judged, actions)
    if succeeded_before(actions, requirement.tool, judged, values, standing=standing, most=1):
        yield rule.kept(judged.step)
        return
    if doubtful := doubtful_before(actions, requirement.tool, judged, values, standing=standing):
        if standing is Standing.AFFIRMED and all(map(Standing.UNSAID.holds, doubtful)):
            yield _unsaid(rule, judged, doubtful)
        elif unbound := [name for name, value in values.items() if value is UNRESOLVED]:
            reason = f"{', '.join(unbound)} of {judged.tool} was not recorded or is null"
            yield rule.unknown(reason, [judged.step, *(action.step for action in doubtful)])
        else:
            yield _unknown(rule, judged, doubtful)
        return
    seen = nearest(actions, requirement.tool, judged, values)
    yield rule.broken(
        f"{judged.tool} without {requirement.tool} before it{_why_not(seen, judged)}",
        [judged.step, *(action.step for action in seen)],
    )


def _unsaid(rule: Rule, judged: Action, doubtful: Sequence[Action]) -> NotEvaluable:
    """Say that the calls were answered, and nobody said yes."""
    if any(action.ending is Ending.UNRECORDED for action in doubtful):
        return _unknown(rule, judged, doubtful)
    tool = doubtful[0].tool
    reason = f"the answer of {tool} does not say that it was granted; say under results what does"
    return rule.unknown(reason, [judged.step, *(action.step for action in doubtful)])


def _unknown(rule: Rule, judged: Action, doubtful: Sequence[Action]) -> NotEvaluable:
    """Say that it hangs on calls of which too little is known."""
    tool = doubtful[0].tool
    if all(action.ending is Ending.UNCLEAR for action in doubtful):
        reason = f"the answer of {tool} can be read either way; say under results how it is meant"
    else:
        reason = f"arguments or result of {tool} were not recorded"
    steps = [judged.step, *(action.step for action in doubtful)]
    return rule.unknown(reason, steps)


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
    rule: Rule, target: str, requirement: Requirement, when: When, actions: Trajectory
) -> Iterator[Finding]:
    """Yield findings for the calls of the target that the condition holds for."""
    for judged in actions.of(target):
        holds = condition(when, argument(judged, when.arg))
        if holds is None:
            reason = f"argument {when.arg} of {target} was not recorded or is no number"
            yield rule.unknown(reason, [judged.step])
        elif holds:
            # Granted, not asked: data that says nothing of itself is no grant.
            yield from _preceded(rule, judged, requirement, actions, Standing.AFFIRMED)


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
    rule: Rule, target: str, asked: AfterAmbiguous, actions: Trajectory
) -> Iterator[Finding]:
    """Yield a finding for each write of unknown result that was not followed as it must be."""
    for judged in actions.of(target):
        if not judged.ambiguous and not judged.unknown:
            continue
        found = _followed(rule, judged, asked, actions)
        if isinstance(found, Violation) and judged.unknown:
            yield _unknown(rule, judged, [judged])
        else:
            yield found


def _followed(rule: Rule, judged: Action, asked: AfterAmbiguous, actions: Trajectory) -> Finding:
    """Return what is wrong, or right, with the first reaction to a write whose result nobody knows."""
    values = wanted(asked.bind, judged, actions)
    sure, perhaps = reactions(actions, asked.related, judged, values)
    doubtful = [one for one in perhaps if sure is None or order(one) < order(sure)]
    if sure is None:
        wrong = [one for one in doubtful if asked.must_follow or one.tool != asked.next_must_be]
    else:
        meets = sure.tool == asked.next_must_be
        wrong = [one for one in doubtful if (one.tool == asked.next_must_be) is not meets]
    if wrong:
        return _unknown(rule, judged, wrong)
    if sure is None:
        if not asked.must_follow:
            return rule.kept(judged.step)
        message = f"{judged.tool} ended ambiguously and {asked.next_must_be} never followed"
        return rule.broken(message, [judged.step])
    if sure.tool == asked.next_must_be:
        return rule.kept(judged.step)
    message = f"{sure.tool} came after an ambiguous {judged.tool}, not {asked.next_must_be}"
    return rule.broken(message, [judged.step, sure.step])


def prohibited(rule: Rule, asked: Prohibited, actions: Trajectory) -> Iterator[Finding]:
    """Yield a finding for each prohibited relation or number of effects."""
    if asked.max_committed is not None:
        yield from too_many(rule, asked, asked.max_committed, actions)
    elif asked.before is not None:
        yield from _too_early(rule, asked, asked.before, actions)
    elif asked.after is not None:
        yield from _too_late(rule, asked, asked.after, actions)
    else:
        for judged in actions.of(asked.tool):
            yield rule.broken(f"{asked.tool} is prohibited", [judged.step])


def _too_early(rule: Rule, asked: Prohibited, other: str, actions: Trajectory) -> Iterator[Finding]:
    """A call that came first, where the other one came only afterwards."""
    for judged in actions.of(asked.tool):
        if not judged.may_have_committed and not judged.succeeded:
            yield rule.kept(judged.step)  # it was tried, and never came about
            continue
        values = wanted(asked.bind, judged, actions)
        if succeeded_before(actions, other, judged, values, most=1):
            yield rule.kept(judged.step)
            continue
        later, perhaps = ended_later(actions, other, judged, values)
        if not later and not perhaps:
            yield rule.kept(judged.step)
            continue
        doubtful = doubtful_before(actions, other, judged, values)
        if later and not doubtful and not judged.committed and not judged.succeeded:
            doubtful = [judged]
        if doubtful or not later:
            yield _unknown(rule, judged, doubtful or perhaps)
            continue
        steps = [judged.step, *(one.step for one in later)]
        yield rule.broken(f"{asked.tool} came before {other}", steps)


def _too_late(rule: Rule, asked: Prohibited, other: str, actions: Trajectory) -> Iterator[Finding]:
    for judged in actions.of(asked.tool):
        values = wanted(asked.bind, judged, actions)
        if earlier := succeeded_before(actions, other, judged, values):
            steps = [judged.step, *(one.step for one in earlier)]
            yield rule.broken(f"{asked.tool} came after {other}", steps)
        elif doubtful := doubtful_before(actions, other, judged, values):
            yield _unknown(rule, judged, doubtful)
        else:
            yield rule.kept(judged.step)
