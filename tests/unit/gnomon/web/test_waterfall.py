"""Time on the waterfall: it fits, keeps its order, and presses idle gaps together."""

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from gnomon.web.waterfall import minimap, ruler, rules, scale

SECOND = 1_000_000_000
TIMES = st.integers(0, 3_600 * SECOND)


@given(TIMES, st.lists(st.tuples(TIMES, TIMES), max_size=8), st.lists(TIMES, max_size=8))
def test_places_keep_the_order_of_time_and_stay_inside(
    end: int, busy: list[tuple[int, int]], moments: list[int]
) -> None:
    of = scale(0, end, sorted((min(a, b, end), min(max(a, b), end)) for a, b in busy))
    places = [of.place(moment) for moment in sorted(moments)]
    assert places == sorted(places)
    assert all(0 <= place <= 100.000001 for place in places)
    assert of.place(of.end) > 99.999


def test_without_gaps_time_is_even() -> None:
    of = scale(0, 10 * SECOND, [(0, 10 * SECOND)])
    assert of.place(5 * SECOND) == 50
    assert of.breaks == []
    assert [text for _, text in of.ticks()] == ["0 ms", "2.5 s", "5 s", "7.5 s", "10 s"]


def test_an_idle_gap_over_a_fifth_of_the_run_becomes_a_break() -> None:
    of = scale(0, 100 * SECOND, [(0, 10 * SECOND), (90 * SECOND, 100 * SECOND)])
    assert [length for _, _, length in of.breaks] == [80 * SECOND]
    left, right, _ = of.breaks[0]
    assert right - left == 3
    assert of.place(10 * SECOND) == left > 45
    assert "1 m 20 s without work" in rules(of)
    assert scale(0, 100 * SECOND, [(0, 85 * SECOND)]).breaks == []


def test_ticks_do_not_stand_inside_a_break_and_not_too_close() -> None:
    of = scale(0, 100 * SECOND, [(0, 5 * SECOND), (95 * SECOND, 100 * SECOND)])
    places = [place for place, _ in of.ticks()]
    assert all(b - a >= 12 for a, b in itertools.pairwise(places))
    left, right, _ = of.breaks[0]
    assert not any(left < place < right for place in places)


def test_the_drawing_uses_attributes_only() -> None:
    of = scale(0, SECOND, [(0, SECOND)])
    drawn = ruler(of) + rules(of) + minimap(of, [(0, SECOND, "s1"), (0, 10, "error")], 2)
    assert "style=" not in drawn
    assert len(re.findall(r"<path", drawn)) == 2


def test_a_run_of_no_length_can_be_drawn() -> None:
    assert scale(5, 5, []).place(5) == 0


def test_the_small_map_of_a_very_long_run_stays_small_and_covers_what_its_bars_cover() -> None:
    count = 50_000
    of = scale(0, count, [(0, count)])
    drawn = minimap(of, ((n, n + 1, "s1") for n in range(count)), count)
    assert len(drawn) < 20_000
    covered: set[int] = set()
    for left, wide in re.findall(r"M(\d+) [\d.]+h(\d+)v", drawn):
        covered.update(range(int(left), int(left) + int(wide)))
    assert set(range(1000)) <= covered
