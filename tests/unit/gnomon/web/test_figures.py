"""A number is never shown without n, interval, unit, what is left out, what is open, its guard."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from gnomon.web.figures import number, rate, share, written
from scoring.metrics.figures import Figure
from scoring.metrics.scope import RUNS_PATH, Link
from scoring.stats.results import Measure, Metric, Rate

GUARD = Rate(value=0.02, low=0.01, high=0.07, n=100, unit="run", method="wilson")
NOTHING = Rate(value=None, low=0.0, high=1.0, n=0, unit="run", method="wilson")
RATE = Rate(
    value=0.876,
    low=0.842,
    high=0.91,
    n=331,
    unit="run",
    excluded={"running": 3},
    open=12,
    method="wilson",
)
FULL = Metric(name="pass", measure=RATE, guard={"unknown": GUARD})


def of(shown: Rate) -> Metric:
    return Metric(name="pass", measure=shown, guard={"unknown": GUARD})


def test_a_share_is_written_with_everything_it_needs() -> None:
    text = str(rate(FULL))
    for part in (
        "87.6 %",
        "95 % CI 84.2–91 %",
        "n = 331",
        "3 running left out",
        "12 open",
        "unknown 2 %",
    ):
        assert part in text


@pytest.mark.parametrize("name", ["n", "unit", "excluded", "open", "method", "confidence"])
def test_a_share_that_lacks_one_of_them_can_not_be_shown(name: str) -> None:
    fields = {field: getattr(RATE, field) for field in Rate.__dataclass_fields__}
    bare = SimpleNamespace(**{**fields, name: None})
    metric = Metric(name="pass", measure=RATE, guard={"unknown": GUARD})
    object.__setattr__(metric, "measure", bare)
    with pytest.raises(TypeError, match=f"a number without {name} can not be shown"):
        rate(metric)


def test_a_share_without_interval_can_not_be_shown() -> None:
    with pytest.raises(TypeError, match="a share without interval can not be shown"):
        rate(of(replace(RATE, low=None)))


def test_a_share_without_guard_can_not_be_shown() -> None:
    metric = Metric(name="pass", measure=RATE, guard={"unknown": GUARD})
    object.__setattr__(metric, "guard", {})
    with pytest.raises(TypeError, match="without guard"):
        rate(metric)


@pytest.mark.parametrize("bare", [0.87, RATE])
def test_a_bare_number_can_not_be_shown_as_a_share(bare: object) -> None:
    with pytest.raises(TypeError, match="only a Metric"):
        rate(bare)  # type: ignore[arg-type]


def test_no_data_is_words_never_0_or_100_per_cent() -> None:
    text = str(rate(of(NOTHING)))
    assert "no data" in text
    assert "no run yet" in text
    assert "%" not in text
    assert "the ledger is silent" in str(written(of(NOTHING), "the ledger is silent").beside)


def test_a_share_that_is_not_decided_is_its_bounds() -> None:
    bounds = Rate(value=None, low=0.8, high=0.9, n=100, unit="run", method="bounds", open=10)
    pieces = written(of(bounds))
    assert "80–90 %" in pieces.number
    assert "worst to best case" in pieces.beside
    assert "10 open" in pieces.beside


def test_what_was_never_seen_shows_how_often_it_could_be_at_most() -> None:
    none = Rate(value=0.0, low=0.0, high=0.0099, n=300, unit="run", method="exact upper bound")
    assert "at most 1 % (95 % bound)" in written(of(none)).beside


def test_a_share_of_few_is_greyed_and_says_so() -> None:
    pieces = written(of(replace(RATE, n=29)))
    assert 'class="few"' in pieces.number
    assert "n = 29, few" in pieces.beside
    assert "few" not in written(of(replace(RATE, n=30))).number


def test_a_guard_without_data_says_so() -> None:
    metric = Metric(name="pass", measure=RATE, guard={"unknown": NOTHING})
    assert "unknown no data" in str(rate(metric))


def test_a_share_takes_its_interval_from_the_statistics() -> None:
    from scipy import stats

    made = share(1, 4, name="x", unit="run", excluded={}, open_units=0, guard={"unknown": GUARD})
    limits = stats.binomtest(1, 4).proportion_ci(method="wilson")
    assert made.measure.value == 0.25
    assert made.measure.low == pytest.approx(limits.low)
    assert made.measure.high == pytest.approx(limits.high)


def test_what_is_left_out_is_counted_and_a_guard_of_that_name_stands_beside_it() -> None:
    text = str(rate(of(replace(RATE, excluded={"unknown": 2}))))
    assert "2 unknown (2 %) left out" in text
    assert text.count("unknown") == 1
    made = share(
        1, 4, name="x", unit="run", excluded={"unknown": 0}, open_units=0, guard={"unknown": GUARD}
    )
    assert made.measure.excluded == {}


def test_the_unit_is_said_where_it_is_not_a_run() -> None:
    assert "n = 331 customers" in written(of(replace(RATE, unit="customer"))).beside


def test_a_number_links_to_the_runs_that_count_and_no_number_links_nowhere() -> None:
    link = Link(path=RUNS_PATH, query={"agent": "desk", "part": "verified"}, runs=3)
    shown = number("pass", Figure(shown=RATE, hits=link))
    assert shown.href == "/runs?agent=desk&part=verified&period=all"
    assert number("pass", Figure(shown=NOTHING, hits=link)).href == ""


def test_money_and_time_are_written_in_their_units() -> None:
    cost = Measure(value=0.5, low=0.4, high=0.7, n=40, unit="run", method="ratio", scale="usd")
    shown = number("cost", Figure(shown=cost))
    assert "$0.50" in shown.number
    assert "95 % CI $0.40–$0.70" in shown.beside
    time = Measure(value=75.0, low=None, high=None, n=40, unit="run", method="km", scale="s")
    assert "1 m 15 s" in number("latency", Figure(shown=time)).number
    assert "no interval" in number("latency", Figure(shown=time)).beside


def test_an_amount_of_which_a_part_is_unknown_is_written_as_at_least() -> None:
    cost = Measure(
        value=0.0194, low=0.011, high=0.03, n=64, unit="run", method="ratio", scale="usd"
    )
    pieces = number("cost", Figure(shown=cost).at_least("32 of 640 model calls have no price"))
    assert "≥ $0.0194" in pieces.number
    assert "CI at least $0.011" in pieces.beside
    assert "32 of 640 model calls have no price" in pieces.beside
    assert "lower bound" not in pieces.beside
