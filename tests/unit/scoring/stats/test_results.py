"""What may be shown: finite, ordered, JSON, and never without what it leaves out."""

import json
import math
from dataclasses import FrozenInstanceError

import pytest

from scoring import stats
from scoring.stats.shown import shown_difference, shown_measure


def test_nan_and_infinity_are_no_results():
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="use None"):
            stats.Estimate(value=bad)
        with pytest.raises(ValueError, match="use None"):
            shown_measure(None, n=0, unit="run", method="t", scale="s", confidence=bad)


def test_limits_that_do_not_hold_their_value_are_refused():
    with pytest.raises(ValueError, match="do not hold"):
        stats.Estimate(value=0.5, low=0.6, high=0.7)


def test_what_is_shown_is_frozen_and_is_json():
    shown = stats.rate(3, 4, unit="case", excluded={"running": 2}, open=1, gate=True)
    with pytest.raises(FrozenInstanceError):
        shown.value = 1.0
    text = json.loads(json.dumps(shown.as_json(), allow_nan=False))
    assert text["excluded"] == {"running": 2}
    assert (text["method"], text["scale"], text["unit"]) == ("clopper-pearson", "rate", "case")
    assert (text["n"], text["open"], text["confidence"], text["flags"]) == (4, 1, 0.95, [])


def test_without_data_a_rate_goes_from_0_to_1_and_everything_else_has_no_limits():
    rate = stats.rate(0, 0, unit="run")
    assert (rate.value, rate.low, rate.high) == (None, 0, 1)
    measure = shown_measure(None, n=0, unit="run", method="t", scale="usd")
    assert (measure.value, measure.low, measure.high) == (None, None, None)
    apart = shown_difference(None, n=0, unit="pair", method="tango")
    assert (apart.value, apart.low, apart.high, apart.better) == (None, None, None, 0)


def test_a_metric_cannot_be_had_without_its_guard():
    solved, budget = stats.rate(3, 4, unit="task"), stats.rate(1, 4, unit="task")
    with pytest.raises(ValueError, match="no guard"):
        stats.Metric(name="completion", measure=solved, guard={})
    both = stats.Metric(name="completion", measure=solved, guard={"hit_budget": budget}).as_json()
    assert both["value"] == 0.75
    assert both["guard"]["hit_budget"]["value"] == 0.25


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="negative"):
        stats.rate(1, 2, unit="run", excluded={"running": -1})
