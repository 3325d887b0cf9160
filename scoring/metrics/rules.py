"""Every rule of the policies, broken or not: in how many runs, or how rarely at most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gnomon.model import JsonValue
from scoring.grading.policy import PolicyGrader
from scoring.metrics.figures import Figure
from scoring.metrics.group import Group
from scoring.metrics.guards import told
from scoring.metrics.ruled import RuleCount, Ruled, broken_share
from scoring.policies.language import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleReport:
    """One rule over the runs of a scope."""

    policy: str
    version: str
    """'' for a policy that is set up no more."""
    rule: str
    severity: str
    share: Figure
    """Runs that broke it, of those that its policy judged."""
    text: JsonValue
    """What the policy says; None for a rule that no policy file holds."""

    @property
    def state(self) -> Literal["broken", "kept", "not judged"]:
        """What became of it; a rule that no run was judged by was not kept."""
        if self.share.hits is not None and self.share.hits.runs:
            return "broken"
        return "not judged" if self.share.shown.value is None else "kept"

    @property
    def name(self) -> str:
        """Policy and rule, as lists of runs ask for it."""
        return f"{self.policy}/{self.rule}"


def rules_of(policy: Policy) -> Mapping[str, JsonValue]:
    """Return every rule of a policy by the name its violations carry."""
    said = policy.model_dump(mode="json", exclude_unset=True)
    found: dict[str, JsonValue] = {}
    for kind in ("required_before", "conditionally_required_before"):
        for tool, rules in said.get(kind, {}).items():
            found |= {f"{kind}.{tool}.{place}": {tool: [rule]} for place, rule in enumerate(rules)}
    for kind in ("after_ambiguous_write", "arguments"):
        found |= {f"{kind}.{tool}": {tool: rule} for tool, rule in said.get(kind, {}).items()}
    found |= {f"prohibited.{place}": rule for place, rule in enumerate(said.get("prohibited", ()))}
    found |= {f"budgets.{name}": {name: limit} for name, limit in said.get("budgets", {}).items()}
    return found


def reports(group: Group, ruled: Ruled, policies: Sequence[PolicyGrader]) -> list[RuleReport]:
    """Return the rules of all policies in the order of their files, then whatever else was broken."""
    open_ = {(count.policy, count.rule): count for count in ruled.broken}
    found: list[RuleReport] = []
    for grader in policies:
        for rule, text in rules_of(grader.policy).items():
            count = open_.pop((grader.name, rule), None) or RuleCount(
                policy=grader.name,
                rule=rule,
                severity=grader.policy.severity,
                runs=0,
                my=0,
                yy=0,
            )
            found.append(_report(group, count, ruled, grader.version, text))
    return found + [_report(group, count, ruled, "", None) for count in open_.values()]


def _report(
    group: Group,
    count: RuleCount,
    ruled: Ruled,
    version: str,
    text: JsonValue,
) -> RuleReport:
    return RuleReport(
        policy=count.policy,
        version=version,
        rule=count.rule,
        severity=count.severity,
        share=told(broken_share(group, count, ruled), group),
        text=text,
    )
