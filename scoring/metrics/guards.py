"""The numbers beside the numbers: what each metric could be bettered at the cost of."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from scoring.metrics.figures import PARTIAL, Figure, Guarded
from scoring.metrics.group import NANO, Group, half_done
from scoring.stats.rates import rate

LEAST_COMPLETE = 0.99
"""Under this share of complete traces a number read from traces is none."""

MOST_WITHOUT_USAGE = 0.05
"""Over this share of model steps without usage, sums of tokens and money are partial."""

COMPLETENESS = "trace_completeness"


def completeness(group: Group) -> Figure:
    """Return the share of runs with contiguous steps, an end, and usage."""
    figure = group.share(COMPLETENESS)
    return replace(figure, hits=group.link("complete"))


def too_incomplete(group: Group) -> str:
    """Return why numbers read from traces say nothing, or ''."""
    seen = group.sums.ratios[COMPLETENESS]
    if seen.mean is None or seen.mean >= LEAST_COMPLETE:
        return ""
    return (
        f"NOT ENOUGH DATA: {seen.mean:.1%} of the traces are complete, under {LEAST_COMPLETE:.0%};"
        " see which are not, and send their missing spans and usage"
    )


def told(figure: Figure, group: Group) -> Figure:
    """Return a number read from traces, or the same without its number where they are incomplete."""
    why = too_incomplete(group)
    return figure.withheld(why) if why else figure


def honest(metric: Guarded, group: Group) -> Guarded:
    """Return a metric with trace completeness among its guards; too incomplete, without numbers."""
    guard = {**metric.guard, COMPLETENESS: completeness(group)}
    why = too_incomplete(group)
    if not why:
        return replace(metric, guard=guard)
    return replace(
        metric,
        measure=metric.measure.withheld(why),
        beside={name: figure.withheld(why) for name, figure in metric.beside.items()},
        guard={
            name: figure if name == COMPLETENESS else figure.withheld(why)
            for name, figure in guard.items()
        },
    )


def with_usage_told(figure: Figure, group: Group) -> Figure:
    """Return a number of tokens or money, flagged where too many steps do not tell theirs."""
    missing = usage_missing(group)
    if missing is None or missing <= MOST_WITHOUT_USAGE:
        return figure
    return figure.flagged(PARTIAL, f"{missing:.1%} of model steps report no usage")


def with_prices_told(figure: Figure, group: Group, *, unpriced: int | None = None) -> Figure:
    """Return a number of money: a lower bound where any call has no price; flagged where people cost nothing.

    unpriced: calls without a price among the runs of the number; unset: all of the group.
    """
    figure = with_usage_told(figure, group)
    if figure.missing:
        return figure
    totals = group.sums.totals
    calls, inside = totals["model_steps"], totals["unpriced_calls"]
    if calls and inside / calls > MOST_WITHOUT_USAGE:
        text = f"{inside / calls:.1%} of model calls have no price; add them to prices"
        figure = figure.flagged(PARTIAL, text)
    if missing := inside if unpriced is None else unpriced:
        text = f"{missing:,} of {calls:,} model calls have no price and count as nothing"
        figure = figure.at_least("" if PARTIAL in figure.shown.flags else text)
    if group.units.people_usd_per_minute == 0 and totals["people_ns"] > 0:
        figure = figure.flagged(
            "people_not_priced", "people's minutes cost nothing until metrics.people_usd_per_minute"
        )
    return figure


def cost_per_run(group: Group) -> Figure:
    """Return the money of a run whose cost is known, people's minutes included."""
    figure = group.mean("cost_per_run", scale="usd", left_out="no_cost")
    return with_prices_told(figure, group, unpriced=group.sums.totals["unpriced_within"])


def usage_missing(group: Group) -> float | None:
    """Return the share of model steps that report no usage; None without a model step."""
    calls = group.sums.totals["model_steps"]
    return group.sums.totals["steps_without_usage"] / calls if calls else None


def per_step(group: Group, name: str) -> Figure:
    """Return a total per tool step; steps come in runs, so there is no interval of its own."""
    steps, hits = group.sums.totals["tool_steps"], group.sums.totals[name]
    value = hits / steps if steps else None
    return group.plain(value, n=steps, scale="rate", unit="step", method="share of steps")


def repeats(group: Group) -> Figure:
    """Return calls that repeat an earlier one, of those whose arguments are known."""
    told = group.sums.totals["told_calls"]
    if not told:
        text = "no tool call tells its arguments: record gen_ai.tool.call.arguments"
        return group.nothing(text, "steps.tool_arguments")
    return group.plain(
        group.sums.totals["repeats"] / told, n=told, scale="rate", unit="step",
        method="share of steps", part="summed_up",
    )  # fmt: skip


def model_steps(group: Group) -> Figure:
    """Return model steps per run; where none was ever recorded, none is known."""
    figure = group.mean("model_calls", scale="calls")
    if figure.shown.value == 0:
        return group.nothing("no model step was recorded", "steps.llm", scale="calls")
    return figure


UNTOLD = "of {runs} runs it can not be told: what it hangs on was not recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What runs are held against by rules, where a number is read against those alone."""

    ratio: str
    left_out: str
    unclear: str
    """The part of the runs of which nobody can tell."""
    never: bool = False
    nothing: str
    """Why there is no number, and how there would be one."""
    missing: str


_GATES = _Held(
    ratio="unapproved",
    left_out="no_gated_action",
    unclear="perhaps_gated",
    never=True,
    nothing="no action of these runs needed an approval: policies say by"
    " conditionally_required_before which do",
    missing="policies.conditionally_required_before",
)
_BUDGETS = _Held(
    ratio="over_budget",
    left_out="no_budget",
    unclear="budget_unclear",
    nothing="no run in this window was held against a budget: write budgets into a policy of these"
    " runs, or add a grader of type budget",
    missing="policies.budgets",
)
_CHECKS = _Held(
    ratio="required_checks",
    left_out="not_solved_or_no_check",
    unclear="checks_unclear",
    nothing="no solved run made a call that needs a check before it: policies say by"
    " required_before which do",
    missing="policies.required_before",
)
_EFFECTS = _Held(
    ratio="duplicates",
    left_out="no_effects_counted",
    unclear="effects_unclear",
    never=True,
    nothing="the effects of no run in this window were counted: write max_committed into a policy"
    " of these runs, or add a grader of type recovery with writes",
    missing="policies.prohibited",
)


def _share(group: Group, held: _Held) -> Figure:
    """Return a share of what was held against rules of a kind; None where nothing was."""
    figure = group.share(held.ratio, left_out=held.left_out, unclear=held.unclear, never=held.never)
    parts = group.sums.parts
    if figure.shown.value is not None or not parts["scoped"]:
        return figure
    if unclear := parts[held.unclear]:
        return replace(figure, text=UNTOLD.format(runs=unclear))
    if waiting := parts["not_summed_up"]:
        text = f"{waiting} of {parts['scoped']} runs are not judged yet; of the others: "
        return replace(figure, text=text + held.nothing)
    return replace(figure, text=held.nothing, missing=(held.missing,))


def unapproved(group: Group) -> Figure:
    """Return actions without the approval they needed, of those that needed one."""
    figure = _share(group, _GATES)
    seen, unclear = group.sums.ratios[_GATES.ratio], group.sums.totals["unclear_actions"]
    if not seen.m:
        return figure
    text = f"{seen.hits} of {seen.runs} actions that needed an approval"
    if unclear:
        text += f"; of {unclear} more it was not recorded whether they did, or had one"
    return replace(figure, text=text)


def over_budget(group: Group) -> Figure:
    """Return runs that hit a budget, of those that were held against one."""
    return _share(group, _BUDGETS)


def required_checks(group: Group) -> Figure:
    """Return solved runs that missed no required check, of those that had to make one."""
    return _share(group, _CHECKS)


def duplicates(group: Group) -> Figure:
    """Return runs in which something took effect too often, of those whose effects were counted."""
    return _share(group, _EFFECTS)


def violations(group: Group) -> Figure:
    """Return runs that broke a rule, of those that somebody looked at for broken rules."""
    figure = group.share(
        "violations", left_out="no_rule_judged", unclear="rules_unclear", never=True
    )
    if figure.shown.value is not None or not (unclear := group.sums.parts["rules_unclear"]):
        return figure
    return replace(figure, text=UNTOLD.format(runs=unclear))


NO_PEOPLE = (
    "no step of a person was recorded (kind human; Claude Code sends it as tool.blocked_on_user)"
)


def recorded(group: Group, figure: Figure) -> Figure:
    """Return a number about people; None where no step of a person was ever recorded."""
    if group.sums.totals["people_steps"] or figure.shown.value is None:
        return figure
    return replace(figure.without_number(), text=NO_PEOPLE, missing=("steps.human",), hits=None)


def people(group: Group) -> Mapping[str, Figure]:
    """Return what people had to do: overrides, approvals, and how long a decision took."""
    totals = group.sums.totals
    overrides = Figure(
        shown=rate(totals["overrides"], totals["decisions"], unit="decision"),
        link=group.link("decided_on"),
        hits=group.link("overridden"),
        text="" if totals["decisions"] else NO_DECISION,
    )
    return {
        "override_rate": overrides,
        "planned_approvals": _planned(group),
        "automatic_approvals": _approvals(group, "auto_approvals", "approved_by_rule"),
        "median_decision_time": replace(
            group.quantile(
                group.sums.decision_ns, 0.5, part="decided_on", scale="s", per=NANO, unit="decision"
            ),
            text="" if group.sums.decision_ns else NO_DECISION,
        ),
    }


NO_DECISION = (
    "no decision of a person was recorded: send gnomon.decision with approvals and refusals"
)


def _planned(group: Group) -> Figure:
    """Return approvals by people, and how many that is for each action that needed one."""
    figure = _approvals(group, "approvals", "approved")
    gated = group.sums.ratios[_GATES.ratio].runs
    if not gated or figure.shown.value is None:
        return figure
    each = group.sums.totals["approvals"] / gated
    return replace(figure, text=f"for {gated} actions that needed one: {each:.2f} each")


def _approvals(group: Group, name: str, part: str) -> Figure:
    totals = group.sums.totals
    decisions = totals["decisions"] + totals["auto_approvals"]
    if not decisions:
        return group.nothing(NO_DECISION, "steps.decision", scale="count")
    return group.plain(totals[name], n=decisions, scale="count", unit="decision", part=part)


def waited_for(group: Group) -> Figure:
    """Return the Kaplan-Meier median, aborted runs censored: fast failures do not help it."""
    finished, aborted = group.sums.finished_ns, group.sums.aborted_ns
    median = half_done(finished, aborted)
    n = len(finished) + len(aborted)
    figure = group.plain(
        None if median is None else median / NANO, n=n, scale="s", method="kaplan-meier median"
    )
    if median is not None or not n:
        return figure
    last = max([*finished[-1:], *aborted[-1:]]) / NANO
    return replace(figure, text=f"half of the runs never finished: > {last:g} s")
