"""A share is never shown without n, interval, unit, what is left out, what is open, its guard."""

from dataclasses import replace

import pytest

from gnomon.model import Estimate, Guard, Rate
from gnomon.web.figures import rate, share, written

GUARD = Guard(name="unknown", value=0.02, n=100)
FULL = Rate(
    value=0.876,
    low=0.842,
    high=0.91,
    n=331,
    unit="run",
    excluded={"running": 3},
    open=12,
    method="wilson",
    guard=GUARD,
)


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


@pytest.mark.parametrize("name", ["n", "unit", "excluded", "open", "guard", "method"])
def test_a_share_that_lacks_one_of_them_can_not_be_shown(name: str) -> None:
    with pytest.raises(TypeError, match=f"a rate without {name} can not be shown"):
        rate(replace(FULL, **{name: None}))


def test_a_bare_number_can_not_be_shown_as_a_share() -> None:
    with pytest.raises(TypeError, match="only a Rate"):
        rate(0.87)  # type: ignore[arg-type]


def test_no_data_is_words_never_0_or_100_per_cent() -> None:
    text = str(rate(replace(FULL, value=None, low=0.0, high=1.0, n=0)))
    assert "no data" in text
    assert "no run yet" in text
    assert "%" not in text


def test_a_share_of_few_is_greyed_and_says_so() -> None:
    pieces = written(replace(FULL, n=29))
    assert 'class="few"' in pieces.number
    assert "n = 29, few" in pieces.beside
    assert "few" not in written(replace(FULL, n=30)).number


def test_a_guard_without_data_says_so() -> None:
    guard = Guard(name="unknown", value=None, n=0)
    assert "unknown no data" in str(rate(replace(FULL, guard=guard)))


def test_a_share_takes_its_interval_from_the_statistics_or_says_there_is_none() -> None:
    def interval(x: int, n: int, /) -> Estimate | None:
        return Estimate(value=x / n, low=0.1, high=0.4)

    known = share(1, 4, interval=interval, unit="run", excluded={}, open_units=0, guard=GUARD)
    assert (known.value, known.low, known.high, known.method) == (0.25, 0.1, 0.4, "wilson")
    bare = share(1, 4, interval=None, unit="run", excluded={}, open_units=0, guard=GUARD)
    assert (bare.low, bare.high) == (None, None)
    assert "no interval" in str(rate(bare))
    nothing = share(0, 0, interval=interval, unit="run", excluded={}, open_units=0, guard=GUARD)
    assert nothing.value is None


def test_what_is_left_out_is_counted_and_a_guard_of_that_name_stands_beside_it() -> None:
    text = str(rate(replace(FULL, excluded={"unknown": 2})))
    assert "2 unknown (2 %) left out" in text
    assert text.count("unknown") == 1
    nothing = share(
        1,
        4,
        interval=None,
        unit="run",
        excluded={"unknown": 0},
        open_units=0,
        guard=GUARD,
    )
    assert nothing.excluded == {}
