"""From a policy and what a run did to breaches with their evidence. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gnomon.model import Run, Step
from scoring.policies import relations
from scoring.policies.actions import Action, actions_of
from scoring.policies.budgets import over_budget
from scoring.policies.language import Policy, Prohibited, Scope
from scoring.policies.schemas import complaints, validator_of
from scoring.policies.trajectory import Trajectory
from scoring.policies.verdict import (
    Checked,
    Finding,
    Kept,
    NotEvaluable,
    Rule,
    RuleKind,
    Violation,
    held_of,
)


def applies(policy: Policy, run: Run) -> bool:
    """Return whether the policy speaks of this run."""
    return in_scope(policy.scope, run)


def in_scope(scope: Scope, run: Run) -> bool:
    """Return whether a run is of the agents, versions and environments asked for."""
    return (
        (not scope.agents or run.agent_name in scope.agents)
        and (not scope.versions or run.agent_version in scope.versions)
        and (not scope.environments or run.environment in scope.environments)
    )


def check_run(policy: Policy, run: Run, steps: Sequence[Step]) -> Checked:
    """Judge a production run: what was not recorded is not evaluable."""
    actions = Trajectory(actions_of(steps, policy.results))
    whole = Rule("budgets", RuleKind.BUDGET)
    budgets = _careful(whole, over_budget(policy.budgets, run, steps))
    findings = [*_trajectory(policy, actions), *budgets]
    return _checked(policy, findings, applied=_applied(policy, actions))


def check_trial(policy: Policy, actions: Sequence[Action]) -> Checked:
    """Judge a trial by its harness's own record: a relation that can not be shown is unmet."""
    ordered = Trajectory(sorted(actions, key=lambda action: (action.started, action.step)))
    findings = [_unmet(finding) for finding in _trajectory(policy, ordered)]
    return _checked(policy, findings, applied=_applied(policy, ordered))


def _unmet(finding: Finding) -> Finding:
    match finding:
        case NotEvaluable(rule=rule, kind=kind, reason=reason, steps=steps):
            return Violation(rule=rule, kind=kind, message=f"not shown: {reason}", steps=steps)
        case Violation() | Kept():
            return finding


def _checked(policy: Policy, findings: Iterable[Finding], *, applied: int) -> Checked:
    found = list(findings)
    return Checked(
        policy=policy.policy,
        version=policy.version,
        violations=[one for one in found if isinstance(one, Violation)],
        not_evaluable=[one for one in found if isinstance(one, NotEvaluable)],
        applied=applied,
        held=held_of(found),
    )


def _trajectory(policy: Policy, actions: Trajectory) -> Iterator[Finding]:
    for rule, findings in _rules(policy, actions):
        yield from _careful(rule, findings)


def _careful(rule: Rule, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield what a rule found; what it can not cope with is its own matter, not that of others."""
    try:
        yield from findings
    except RecursionError:
        yield rule.unknown("what was recorded is nested too deep to be looked through", [])
    except Exception as error:  # noqa: BLE001 - arbitrary content must not switch off other rules
        reason = f"looking at what was recorded raised {type(error).__name__}; please report it"
        yield rule.unknown(reason, [])


def _rules(policy: Policy, actions: Trajectory) -> Iterator[tuple[Rule, Iterator[Finding]]]:
    """Yield each rule with what it finds."""
    for target, requirements in policy.required_before.items():
        for place, requirement in enumerate(requirements):
            rule = Rule(f"required_before.{target}.{place}", RuleKind.CHECK)
            yield rule, relations.required_before(rule, target, requirement, actions)
    for target, conditionals in policy.conditionally_required_before.items():
        for place, conditional in enumerate(conditionals):
            rule = Rule(f"conditionally_required_before.{target}.{place}", RuleKind.GATE)
            yield (
                rule,
                relations.conditionally_required(
                    rule, target, conditional, conditional.when, actions
                ),
            )
    for target, asked in policy.after_ambiguous_write.items():
        rule = Rule(f"after_ambiguous_write.{target}", RuleKind.REACTION)
        yield rule, relations.after_ambiguous(rule, target, asked, actions)
    for place, prohibition in enumerate(policy.prohibited):
        rule = Rule(f"prohibited.{place}", _kind_of(prohibition))
        yield rule, relations.prohibited(rule, prohibition, actions)
    for tool, schema in policy.arguments.items():
        rule = Rule(f"arguments.{tool}", RuleKind.ARGUMENTS)
        validator = validator_of(schema)
        for action in actions.of(tool):
            yield rule, _arguments(rule, action, validator)


def _kind_of(prohibition: Prohibited) -> RuleKind:
    if prohibition.before is not None or prohibition.after is not None:
        return RuleKind.ORDER
    # One effect of what may have none is nothing done twice.
    return RuleKind.EFFECTS if prohibition.max_committed else RuleKind.PROHIBITED


def _arguments(rule: Rule, action: Action, validator: Any) -> Iterator[Finding]:
    if action.arguments is None:
        yield rule.unknown(f"arguments of {action.tool} were not recorded", [action.step])
    elif wrong := complaints(validator, dict(action.arguments), whole="arguments"):
        yield rule.broken(f"arguments of {action.tool}: {'; '.join(wrong)}", [action.step])
    else:
        yield rule.kept(action.step)


def _applied(policy: Policy, actions: Trajectory) -> int:
    """Count the rules that found something to judge."""
    targets = [
        *(tool for tool, rules in policy.required_before.items() for _ in rules),
        *(tool for tool, rules in policy.conditionally_required_before.items() for _ in rules),
        *policy.after_ambiguous_write,
        *(rule.tool for rule in policy.prohibited),
        *policy.arguments,
    ]
    return sum(tool in actions.tools for tool in targets) + len(policy.budgets.model_fields_set)
