import inspect
import typing

import pytest

import scoring.metrics.reader
import scoring.metrics_router
from scoring.metrics import compute, surfaces
from scoring.metrics.figures import Figure, Guarded
from scoring.stats.rates import rate
from scoring.stats.results import Estimate, Measure, Rate, Shown

FIGURE = Figure(shown=rate(3, 4, unit="run"))


def test_a_metric_without_a_guard_can_not_be_made() -> None:
    with pytest.raises(ValueError, match="has no guard"):
        Guarded(name="completion", definition="d", measure=FIGURE, guard={})


def test_a_metric_and_its_guard_are_one_object() -> None:
    metric = Guarded(name="completion", definition="d", measure=FIGURE, guard={"g": FIGURE})
    written = metric.as_json()
    assert written["value"] == 0.75
    assert written["guard"]["g"]["value"] == 0.75


def test_promise_5_no_way_leads_to_a_metric_alone() -> None:
    # The doors hand out Guarded only: no public function of the reader returns a bare figure.
    for name, function in inspect.getmembers(scoring.metrics.reader.MetricReader, inspect.isfunction):  # fmt: skip
        if name.startswith("_"):
            continue
        returned = str(typing.get_type_hints(function).get("return"))
        assert not any(kind in returned for kind in ("Figure", "Rate", "Estimate", "float")), name


def test_a_withheld_rate_has_no_value_and_says_so() -> None:
    figure = FIGURE.withheld("NOT ENOUGH DATA: because")
    assert (figure.shown.value, figure.shown.low, figure.shown.high) == (None, 0.0, 1.0)
    assert figure.shown.n == 4
    assert figure.shown.flags == ("not_enough_data",)
    assert figure.text == "NOT ENOUGH DATA: because"


def test_a_number_whose_input_is_missing_is_none() -> None:
    with pytest.raises(ValueError, match="missing"):
        Figure(shown=rate(3, 4, unit="run"), missing=("cost_usd",))


NUMBERS = (float, int, Shown, Rate, Measure, Estimate, Figure)


def _returns_a_number(function: typing.Any) -> bool:
    hint = typing.get_type_hints(function).get("return")
    parts = typing.get_args(hint) or (hint,)
    return any(part in NUMBERS for part in parts)


def _takes_surfaces(function: typing.Any) -> int:
    hints = typing.get_type_hints(function)
    hints.pop("return", None)
    several = ("Sequence", "list", "Mapping", "dict", "Iterable", "tuple")
    weight = 0
    for hint in map(str, hints.values()):
        if "SurfaceReport" in hint or "SurfacesReport" in hint:
            weight += 2 if any(word in hint for word in several) else 1
    return weight


def test_no_function_takes_two_surfaces_and_returns_one_number() -> None:
    seen = 0
    for module in (surfaces, compute, scoring.metrics.reader, scoring.metrics_router):
        for _, function in inspect.getmembers(module, inspect.isfunction):
            if not function.__module__.startswith("scoring.metrics"):
                continue
            seen += 1
            assert not (_takes_surfaces(function) >= 2 and _returns_a_number(function))
    assert seen > 25
