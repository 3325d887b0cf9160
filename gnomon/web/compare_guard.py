"""What stands beside a comparison: shares of both sides, and the rules that only one breaks."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from gnomon.segment import segment
from gnomon.web.amounts import bounded, interval_words, span_words, value_words
from gnomon.web.formats import count
from scoring.stats.results import Rate
from scoring.versions.guard import Broken, Guard

_VIOLATIONS = 20
"""New violations that one page lists."""
GUARDS = {
    "violations": "runs that broke a rule",
    "false_claims": "claims that were false",
    "over_budget": "over budget",
    "aborted": "aborted",
    "unverified": "not verified",
    "passed": "verified right",
    "trace_completeness": "complete traces",
}
"""What the shares that guard a comparison are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardLine:
    """One share of both sides, in words."""

    name: str
    base: str
    cand: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewViolation:
    """A rule that only the candidate breaks."""

    task: str
    rule: str
    href: str
    """Address of the rule."""
    runs: int
    links: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardPart:
    """What stands beside a difference."""

    lines: Sequence[GuardLine]
    look: str
    text: str
    """What is said of new violations."""
    new: Sequence[NewViolation]
    more: int


def guard_part(guard: Guard) -> GuardPart:
    """Return the shares of both sides, and new violations with runs to read."""
    new = guard.new or ()
    return GuardPart(
        lines=[
            GuardLine(
                name=GUARDS.get(name, name),
                base=_share_words(one.base),
                cand=_share_words(one.cand),
            )
            for name, one in guard.shares.items()
        ],
        look="unknown" if guard.nobody_knows else "error" if new else "ok",
        text=guard.text,
        new=[_new_violation(one) for one in new[:_VIOLATIONS]],
        more=max(0, len(new) - _VIOLATIONS),
    )


def _new_violation(one: Broken) -> NewViolation:
    return NewViolation(
        task=one.task,
        rule=one.name,
        href=f"/policies/{quote(one.policy)}/{quote(one.rule)}",
        runs=one.runs,
        links=[(f"run {run[:8]}", run_address(run)) for run in one.run_ids[:3]],
    )


def _share_words(one: Rate) -> str:
    n = f"n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{count(one.n)}"
    if one.value is None and not bounded(one):
        return f"no data, {n}"
    if one.value is None:
        span = span_words(one.low or 0.0, one.high or 0.0, one.scale)
        return f"{span}, {count(one.open)} undecided, {n}"
    return f"{value_words(one.value, one.scale)}, {interval_words(one)}, {n}"


def run_address(run: str) -> str:
    """Return the address of a run."""
    return f"/runs/{segment(run)}?{urlencode({'list': 'period=all'})}"
