"""From a policy and what a run did to breaches with their evidence. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gnomon.model import Run, Step
from scoring.policies import relations
from scoring.policies.actions import Action, actions_of
from scoring.policies.budgets import over_budget
from scoring.policies.language import Policy, Scope
from scoring.policies.schemas import complaints, validator_of
from scoring.policies.trajectory import Trajectory
from scoring.policies.verdict import Checked, Finding, NotEvaluable, Violation


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
    budgets = _careful("budgets", over_budget(policy.budgets, run, steps))
    findings = [*_trajectory(policy, actions), *budgets]
    return _checked(policy, findings, applied=_applied(policy, actions))


def check_trial(policy: Policy, actions: Sequence[Action]) -> Checked:
    """Judge a trial by its harness's own record: a relation that can not be shown is unmet."""
    ordered = Trajectory(sorted(actions, key=lambda action: (action.started, action.step)))
    findings = [_unmet(finding) for finding in _trajectory(policy, ordered)]
    return _checked(policy, findings, applied=_applied(policy, ordered))


def _unmet(finding: Finding) -> Finding:
    match finding:
        case NotEvaluable(rule=rule, reason=reason, steps=steps):
            return Violation(rule=rule, message=f"not shown: {reason}", steps=steps)
        case Violation():
            return finding


def _checked(policy: Policy, findings: Iterable[Finding], *, applied: int) -> Checked:
    violations: list[Violation] = []
    unknown: list[NotEvaluable] = []
    for finding in findings:
        match finding:
            case Violation():
                violations.append(finding)
            case NotEvaluable():
                unknown.append(finding)
    return Checked(
        policy=policy.policy,
        version=policy.version,
        violations=violations,
        not_evaluable=unknown,
        applied=applied,
    )


def _trajectory(policy: Policy, actions: Trajectory) -> Iterator[Finding]:
    for rule, findings in _rules(policy, actions):
        yield from _careful(rule, findings)


def _careful(rule: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield what a rule found; what it can not cope with is its own matter, not that of others."""
    try:
        yield from findings
    except RecursionError:
        reason = "what was recorded is nested too deep to be looked through"
        yield NotEvaluable(rule=rule, reason=reason, steps=[])
    except Exception as error:  # noqa: BLE001 - arbitrary content must not switch off other rules
        reason = f"looking at what was recorded raised {type(error).__name__}; please report it"
        yield NotEvaluable(rule=rule, reason=reason, steps=[])


def _rules(policy: Policy, actions: Trajectory) -> Iterator[tuple[str, Iterator[Finding]]]:
    """Yield the path of each rule with what it finds."""
    for target, requirements in policy.required_before.items():
        for place, requirement in enumerate(requirements):
            rule = f"required_before.{target}.{place}"
            yield rule, relations.required_before(rule, target, requirement, actions)
    for target, conditionals in policy.conditionally_required_before.items():
        for place, conditional in enumerate(conditionals):
            rule = f"conditionally_required_before.{target}.{place}"
            yield (
                rule,
                relations.conditionally_required(
                    rule, target, conditional, conditional.when, actions
                ),
            )
    for target, asked in policy.after_ambiguous_write.items():
        rule = f"after_ambiguous_write.{target}"
        yield rule, relations.after_ambiguous(rule, target, asked, actions)
    for place, prohibition in enumerate(policy.prohibited):
        rule = f"prohibited.{place}"
        yield rule, relations.prohibited(rule, prohibition, actions)
    for tool, schema in policy.arguments.items():
        rule = f"arguments.{tool}"
        validator = validator_of(schema)
        for action in actions.of(tool):
            yield rule, _arguments(rule, action, validator)


def _arguments(rule: str, action: Action, validator: Any) -> Iterator[Finding]:
    if action.arguments is None:
        reason = f"arguments of {action.tool} were not recorded"
        yield NotEvaluable(rule=rule, reason=reason, steps=[action.step])
        return
    wrong = complaints(validator, dict(action.arguments), whole="arguments")
    if wrong:
        message = f"arguments of {action.tool}: {'; '.join(wrong)}"
        yield Violation(rule=rule, message=message, steps=[action.step])


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
