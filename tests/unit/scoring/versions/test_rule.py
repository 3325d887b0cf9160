import hashlib
import json
from typing import Any

import pytest

from scoring.metrics.watched import CompareSection, MetricsWatched, RuleSection
from scoring.stats.paired import tango
from scoring.stats.results import Difference, Estimate
from scoring.stats.shown import shown_difference
from scoring.versions.rule import Plan, decided, plan_of, said

SECTION = RuleSection(metric="completion", basis="tasks", margin=0.05, n=200)
GRADERS = ("policy refunds 3", "outcome state 1")


def plan(section: RuleSection = SECTION, **more: Any) -> Plan:
    graders = more.pop("graders", GRADERS)
    task = more.pop("task", "task_id")
    watched = MetricsWatched(compare=CompareSection(rule=section, task=task), **more)
    made = plan_of(watched, graders)
    assert made is not None
    return made


def difference(low: float, high: float, n: int = 200) -> Difference:
    middle = (low + high) / 2
    found = Estimate(value=middle, low=low, high=high)
    return shown_difference(found, n=n, unit="task", method="tango")


def test_the_hash_is_that_of_the_rule_s_canonical_json() -> None:
    written = {
        "measure": "completion on tasks", "kind": "non_inferiority", "limit": 0.05, "planned": 200,
        "looks": 1, "confidence": 0.95, "trials": 1,
        "scope": {"agent": "", "environment": "", "origin": "all"}, "unit": "task_id", "clusters": "",
        "slices": {}, "violations": "none_new", "graders": ["outcome state 1", "policy refunds 3"],
    }  # fmt: skip
    text = json.dumps(written, sort_keys=True, separators=(",", ":"))
    assert plan().digest == hashlib.sha256(text.encode()).hexdigest()[:12]


@pytest.mark.parametrize(
    "change",
    [
        {"metric": "clean"},
        {"basis": "live"},
        {"margin": 0.1},
        {"n": 201},
        {"looks": 2},
        {"trials": 3},
        {"alpha": 0.1},
        {"kind": "superiority", "margin": None},
        {"violations": "not_judged"},
        {"agent": "desk"},
        {"environment": "staging"},
        {"origin": "replay"},
    ],
)
def test_a_changed_rule_is_another_rule(change: dict[str, object]) -> None:
    assert plan(RuleSection(**{**SECTION.model_dump(), **change})).digest != plan().digest


@pytest.mark.parametrize(
    "change",
    [
        {"task": "order_id"},
        {"cluster_by": "customer_id"},
        {"graders": ("policy refunds 4", "outcome state 1")},
        {"graders": ("policy refunds 3",)},
    ],
)
def test_another_unit_or_grader_is_another_rule(change: dict[str, object]) -> None:
    assert plan(**change).digest != plan().digest


def test_slices_are_part_of_a_rule_about_live_runs() -> None:
    live = RuleSection(basis="live", margin=0.05, n=200)
    assert plan(live, slices=["topic"]).digest != plan(live).digest
    assert plan(slices=["topic"]).digest == plan().digest  # tasks are not sliced


def test_the_slice_whose_mix_is_taken_out_is_part_of_a_rule_about_live_runs() -> None:
    live = RuleSection(basis="live", margin=0.05, n=200)

    def asked(section: RuleSection, slice_: str) -> Plan:
        compare = CompareSection(rule=section, slice=slice_)
        made = plan_of(MetricsWatched(slices={"topic": "t", "country": "c"}, compare=compare))
        assert made is not None
        return made

    topic, country = asked(live, "topic"), asked(live, "country")
    assert topic.digest != country.digest
    assert topic.text.startswith(
        "completion on live of all agents in all environments, the mix of topic taken out, is not"
    )
    assert asked(SECTION, "topic").digest == asked(SECTION, "country").digest


def test_the_order_of_graders_is_no_change() -> None:
    assert plan(graders=GRADERS[::-1]).digest == plan().digest


@pytest.mark.parametrize(
    ("low", "high", "n", "verdict", "reason"),
    [
        (-0.03, 0.07, 200, "PASS", "shown"),
        (-0.0516, 0.01, 200, "FAIL", "not shown"),
        (-0.20, -0.06, 200, "FAIL", "shown worse"),
        (-0.03, 0.07, 199, "NOT ENOUGH DATA", "no planned look"),
    ],
)
def test_the_verdict_follows_the_rule(
    low: float, high: float, n: int, verdict: str, reason: str
) -> None:
    found = decided(plan(), difference(low, high, n), n=n)
    assert (found.verdict, found.reason, found.missing) == (verdict, reason, 200 - n)


def test_nothing_is_decided_on_more_units_than_planned() -> None:
    with pytest.raises(ValueError, match="take the first"):
        decided(plan(), difference(0.01, 0.07, 201), n=201)


def test_14_against_10_of_200_passes_a_margin_of_5_points() -> None:
    better = shown_difference(tango(14, 10, 200), n=200, unit="task", method="tango")
    assert better.low == pytest.approx(-0.030, abs=1e-3)
    assert decided(plan(), better, n=200).verdict == "PASS"


def test_without_a_rule_there_is_no_plan() -> None:
    assert plan_of(MetricsWatched()) is None


def test_several_looks_widen_the_interval() -> None:
    assert plan().confidence == 0.95
    assert plan(SECTION.model_copy(update={"looks": 3})).confidence > 0.95
    assert list(plan(SECTION.model_copy(update={"looks": 2})).sizes) == [100, 200]


def test_superiority_asks_for_more_than_nothing() -> None:
    rule = plan(RuleSection(kind="superiority", n=50))
    assert decided(rule, difference(0.0095, 0.15, 50), n=50).verdict == "PASS"
    assert decided(rule, difference(-0.01, 0.15, 50), n=50).verdict == "FAIL"


def test_the_words_of_a_rule_name_the_violations_and_the_trials() -> None:
    text = said(SECTION.model_copy(update={"trials": 3}))
    assert text == (
        "completion on tasks of all agents in all environments is not worse by 5 points, shown at"
        " 95 % with n = 200, the first 3 runs of each side, without a new violation"
    )
    scoped = {"agent": "desk", "environment": "staging", "origin": "replay"}
    assert "completion on tasks of desk in staging, origin replay, is not worse" in said(
        SECTION.model_copy(update=scoped)
    )
