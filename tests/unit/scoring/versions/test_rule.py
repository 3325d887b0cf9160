import hashlib
import json

import pytest

from scoring.metrics.watched import RuleSection
from scoring.stats.paired import tango
from scoring.stats.results import Difference, Estimate
from scoring.stats.shown import shown_difference
from scoring.versions.rule import confidence_of, digest_of, ruling

RULE = RuleSection(metric="completion", basis="tasks", margin=0.05, n=200)


def difference(low: float, high: float, n: int = 200) -> Difference:
    middle = (low + high) / 2
    found = Estimate(value=middle, low=low, high=high)
    return shown_difference(found, n=n, unit="task", method="tango")


def test_the_hash_is_that_of_the_rule_s_canonical_json() -> None:
    written = {
        "measure": "completion on tasks", "kind": "non_inferiority", "limit": 0.05, "planned": 200,
        "looks": 1, "confidence": 0.95, "slices": {},
    }  # fmt: skip
    text = json.dumps(written, sort_keys=True, separators=(",", ":"))
    assert digest_of(RULE) == hashlib.sha256(text.encode()).hexdigest()[:12]


@pytest.mark.parametrize(
    "change",
    [
        {"metric": "clean"},
        {"basis": "live"},
        {"margin": 0.1},
        {"n": 201},
        {"looks": 2},
        {"alpha": 0.1},
        {"kind": "superiority", "margin": None},
    ],
)
def test_a_changed_rule_is_another_rule(change: dict[str, object]) -> None:
    assert digest_of(RuleSection(**{**RULE.model_dump(), **change})) != digest_of(RULE)


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
    found = ruling(RULE, difference(low, high, n), on="tasks", metric="completion")
    assert (found.decision.verdict, found.decision.reason) == (verdict, reason)
    assert found.decision.missing == 200 - n
    assert found.as_json()["hash"] == digest_of(RULE)


def test_14_against_10_of_200_passes_a_margin_of_5_points() -> None:
    better = shown_difference(tango(14, 10, 200), n=200, unit="task", method="tango")
    assert better.low == pytest.approx(-0.030, abs=1e-3)
    assert ruling(RULE, better, on="tasks", metric="completion").decision.verdict == "PASS"


def test_without_a_rule_there_is_no_verdict_and_the_text_says_what_to_write() -> None:
    found = ruling(None, difference(0.1, 0.2), on="tasks", metric="completion")
    assert found.decision.verdict == "NOT ENOUGH DATA"
    assert found.digest == ""
    assert "compare.rule" in found.sentence


def test_a_rule_about_something_else_decides_nothing_here() -> None:
    found = ruling(RULE, difference(0.1, 0.2), on="live", metric="completion")
    assert found.decision.verdict == "NOT ENOUGH DATA"
    assert found.decision.reason == "the rule is about completion on tasks"
    other = ruling(RULE, difference(0.1, 0.2), on="tasks", metric="clean")
    assert other.decision.verdict == "NOT ENOUGH DATA"


def test_several_looks_widen_the_interval() -> None:
    assert confidence_of(RULE) == 0.95
    assert confidence_of(RULE.model_copy(update={"looks": 3})) > 0.95
    assert confidence_of(None) == 0.95


def test_superiority_asks_for_more_than_nothing() -> None:
    rule = RuleSection(kind="superiority", n=50)
    better = ruling(rule, difference(0.0095, 0.15, 50), on="tasks", metric="completion")
    assert better.decision.verdict == "PASS"
    same = ruling(rule, difference(-0.01, 0.15, 50), on="tasks", metric="completion")
    assert same.decision.verdict == "FAIL"
    assert "is better" in same.sentence
