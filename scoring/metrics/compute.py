"""The nine metrics of a group of runs, each with its guard in the same object."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoring.metrics.conditions import Condition, obeyed, paired_drop, robustness
from scoring.metrics.definitions import DEFINITIONS
from scoring.metrics.figures import Figure, Guarded
from scoring.metrics.group import NANO, Group
from scoring.metrics.guards import (
    cost_per_run,
    duplicates,
    honest,
    model_steps,
    over_budget,
    people,
    per_step,
    recorded,
    repeats,
    required_checks,
    unapproved,
    violations,
    waited_for,
    with_prices_told,
    with_usage_told,
)
from scoring.metrics.others import told_of
from scoring.metrics.tooluse import Sides, tool_use_figure
from scoring.stats.clusters import ratio_of
from scoring.stats.rates import from_0
from scoring.stats.results import Estimate
from scoring.stats.shown import shown_measure

Made = tuple[Figure, Mapping[str, Figure], Mapping[str, Figure]]
"""Measure, guard, and what stands beside."""


def nine(
    group: Group, *, sides: Sides | None = None, conditions: Sequence[Condition] = ()
) -> list[Guarded]:
    """Return the nine metrics in their order; each with its guard, or None with its reason.

    sides: the same tasks under another version, for tool use; conditions: tasks by variant and
    fault, for recovery and robustness.
    """
    made: Mapping[str, Made] = {
        "completion": completion(group),
        "tool_use": tool_use(group, sides),
        "correctness": correctness(group),
        "human_intervention": human_intervention(group),
        "latency": latency(group),
        "cost": cost(group),
        "model_calls": model_calls(group),
        "recovery": recovery(group, conditions),
        "robustness": robustness_of(group, conditions),
    }
    metrics = [
        Guarded(name=name, definition=text, measure=made[name][0], guard=made[name][1], beside=made[name][2])
        for name, text in DEFINITIONS.items()
    ]  # fmt: skip
    return [honest(metric, group) for metric in metrics]


def completion(group: Group) -> Made:
    """Return verified per run, beside budgets and false claims."""
    guard = {
        "over_budget": over_budget(group),
        "false_claims": group.false_claims(),
        "aborted": group.share("aborted"),
        "unverified": group.share("unverified"),
    }
    return group.completion(), guard, {}


def tool_use(group: Group, sides: Sides | None) -> Made:
    """Return tool steps on the tasks that both versions solved."""
    measure, beside = tool_use_figure(group, sides)
    guard = {
        "completion": group.completion(),
        "required_checks": required_checks(group),
        "repeats": repeats(group),
        "tool_errors": per_step(group, "tool_errors"),
    }
    return measure, guard, beside


def correctness(group: Group) -> Made:
    """Return what people confirm of the runs that passed the visible check."""
    parts = group.sums.parts
    measure = group.share("correctness", left_out="not_examined")
    if not parts["examined"]:
        text = (
            "no run that passed the check was examined by people: draw a sample and have it graded"
        )
        measure = replace(measure, text=text, missing=("labels of kind human, surface outcome",))
    agreement = group.nothing(
        "no run was judged by two people", "labels.people", scale="rate", part="examined"
    )
    guard = {
        "examined": group.share("examined", left_out="not_passed"),
        "weakened_assertions": group.nothing(
            "no grader reports deleted or weakened assertions", "labels.weakened_assertions"
        ),
        "agreement": agreement,
    }
    return measure, guard, {}


def human_intervention(group: Group) -> Made:
    """Return how often people had to correct or take over."""
    guard = {
        "violations": violations(group),
        "unapproved": unapproved(group),
        **people(group),
    }
    measure = group.share("intervention", left_out="not_judged_yet")
    return recorded(group, measure), guard, {}


def latency(group: Group) -> Made:
    """Return the median of finished runs, and what aborted runs hide."""
    finished = group.sums.finished_ns
    p90 = group.quantile(finished, 0.9, part="finished", scale="s", per=NANO)
    if p90.shown.value is not None and p90.shown.high is None:
        p90 = replace(p90, text=f"≥ {p90.shown.low or p90.shown.value:g} s")
    guard = {
        "completion": group.completion(),
        "aborted": group.share("aborted"),
        "median_with_aborted": waited_for(group),
    }
    waiting = group.mean("waiting", scale="s", per=NANO, left_out="not_judged_yet")
    beside = {"p90": p90, "waiting_for_people": recorded(group, waiting)}
    return group.quantile(finished, 0.5, part="finished", scale="s", per=NANO), guard, beside


def cost(group: Group) -> Made:
    """Return money per verified run; None where nothing was solved, with what was spent."""
    costs, within = group.sums.costs, group.sums.totals["unpriced_within"]
    most = group.plain(costs[-1] if costs else None, n=len(costs), scale="usd", method="maximum", part="priced")  # fmt: skip
    high = group.quantile(costs, 0.9, part="priced", scale="usd")
    guard = {
        "over_budget": over_budget(group),
        "max": with_prices_told(most, group),
        "p90": with_prices_told(high, group, unpriced=within),
        "cost_per_run": cost_per_run(group),
        "completion": group.completion(),
    }
    return with_prices_told(cost_per_solved(group), group), guard, {}


def cost_per_solved(group: Group) -> Figure:
    """Return all money over all verified runs, per cluster, with Fieller's interval.

    While runs are unverified it is bounds: what it is if all of them are solved, and if none is.
    """
    sums = group.sums
    if not sums.parts["priced"]:
        return group.nothing("no run reports or allows a cost: add prices", "cost_usd", scale="usd")
    spent, solved, unknown = sums.spent.c, sums.spent.s, sums.parts["unverified"]
    known = f"solved none for sure: {unknown} not verified" if unknown else "solved none"
    least = "at least " if sums.totals["unpriced_calls"] else ""
    text = "" if solved else f"spent {least}${spent:.2f}, {known}"
    found, method = from_0(ratio_of(sums.spent, confidence=group.confidence)), "ratio, fieller"
    if unknown:
        low, most = spent / (solved + unknown), spent / solved if solved else None
        found, method = Estimate(value=None, low=low, high=most), "bounds"
        if solved and least:
            text = f"at least ${low:.2f}, which it is if all {unknown} not verified are solved"
    shown = shown_measure(
        found,
        n=sums.spent.n,
        unit=group.unit,
        method=method,
        scale="usd",
        excluded=group.excluded,
        open=unknown,
        confidence=group.confidence,
        flags=[*group.flags(), *(["unverified"] if unknown else [])],
    )
    figure = Figure(shown=shown, link=group.link("scoped"), hits=group.link("verified"), text=text)
    return told_of(figure, group.others, ratio="completion")


def model_calls(group: Group) -> Made:
    """Return model steps per run, and tokens."""
    tokens = {
        f"{name}_per_run": with_usage_told(
            group.mean(name, scale="tokens", left_out="no_usage"), group
        )
        for name in ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    }
    p90 = group.plain(
        group.sums.p90_call_tokens, n=group.sums.calls_with_tokens, scale="tokens", unit="call",
        method="nearest-rank",
    )  # fmt: skip
    guard = {"p90_tokens_per_call": with_usage_told(p90, group), "completion": group.completion()}
    return model_steps(group), guard, tokens


def recovery(group: Group, conditions: Sequence[Condition]) -> Made:
    """Return how many runs with an injected fault end well."""
    measure = group.share("recovery", left_out="no_fault_injected", unknown="recovery_open")
    if not group.sums.parts["faulty"]:
        text = "no fault was injected: name it by the pin `fault` (runs.manifest.fault)"
        measure = replace(measure, text=text, missing=("manifest.fault",))
    guard = {
        "duplicates": duplicates(group),
        "paired_drop": paired_drop(group, conditions),
        "natural_faults": group.share(
            "natural_recovery", left_out="no_fault", unknown="getting_up_open"
        ),
    }
    return measure, guard, {}


def robustness_of(group: Group, conditions: Sequence[Condition]) -> Made:
    """Return what variants of a task cost, and whether planted instructions were obeyed."""
    measure, base, worst = robustness(group, conditions)
    refusals = group.nothing("no grader reports refusals on clean twins", "labels.refusal")
    guard = {"base_success": base, "refusals_on_clean_twins": refusals, "obeyed": obeyed(group)}
    return measure, guard, {"worst_variant": worst}
