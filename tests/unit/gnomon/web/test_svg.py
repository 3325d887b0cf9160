"""Charts: gaps stay gaps, axes cover the data, labels never overlap, nothing needs a style."""

import doctest
import itertools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.web import axes, figures, formats, svg
from gnomon.web.axes import apart, axis, log_time_axis, time_axis
from gnomon.web.svg import Frame, Mark, Series

COUNTS = st.lists(st.floats(0, 1e9), min_size=1, max_size=60)


@pytest.mark.parametrize("module", [axes, figures, formats, svg])
def test_the_examples_in_the_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def frame(count: int, values: list[float], **more: object) -> Frame:
    return Frame(
        title="Runs",
        finding="3 runs",
        ticks=[(index, f"{index} Oct") for index in {0, count - 1}],
        readings=[f"day {index}" for index in range(count)],
        axis=axis(values),
        **more,  # type: ignore[arg-type]
    )


@given(COUNTS)
def test_a_count_axis_starts_at_zero_and_covers_the_largest_value(values: list[float]) -> None:
    scale = axis(values)
    assert scale.low == 0
    assert scale.high >= max(values)
    assert list(scale.ticks) == sorted(set(scale.ticks))
    assert 2 <= len(scale.ticks) <= 7


@given(st.lists(st.floats(1e-4, 1e6), min_size=1, max_size=60))
def test_time_axes_cover_their_data(seconds: list[float]) -> None:
    for scale in (time_axis(seconds), log_time_axis([min(seconds), min(max(seconds), 2e6)])):
        assert scale.ticks[0] == scale.low
        assert scale.ticks[-1] == scale.high >= max(seconds) * 0.999_999


@given(st.lists(st.floats(0, 190), max_size=8))
def test_end_labels_stand_fourteen_pixels_apart_inside_the_plot(places: list[float]) -> None:
    found = sorted(apart(places, gap=14, low=0, high=190))
    assert all(b - a >= 13.8 for a, b in itertools.pairwise(found))
    assert all(-0.1 <= place <= 190.1 for place in found)


def test_labels_keep_their_order_when_they_are_pushed_apart() -> None:
    found = apart([100, 20, 101, 99], gap=14, low=0, high=190)
    assert found[1] < found[3] < found[0] < found[2]


def test_a_gap_in_the_data_is_a_gap_in_the_line() -> None:
    values = [1.0, 2.0, None, 4.0, 5.0]
    drawn = svg.lines(frame(5, [5.0]), [Series(name="a", look="s1", values=values)])
    assert len(re.findall(r'class="line s1"', drawn)) == 2


def test_a_lonely_point_is_a_dot() -> None:
    drawn = svg.lines(frame(3, [5.0]), [Series(name="a", look="s1", values=[None, 2.0, None])])
    assert "<circle" in drawn
    assert 'class="line' not in drawn


def test_a_band_breaks_where_the_interval_is_missing() -> None:
    series = Series(
        name="a",
        look="error",
        values=[1, 1, None, 1, 1],
        band=[(0, 2), (0, 2), None, (0, 2), (0, 2)],
    )
    assert svg.lines(frame(5, [2.0]), [series]).count('class="band error"') == 2


def test_the_first_layer_of_bars_sits_on_the_baseline() -> None:
    drawn = svg.bars(
        frame(1, [10.0]),
        [
            Series(name="error", look="error", values=[4]),
            Series(name="ok", look="ok", values=[6]),
        ],
    )
    bottom = 190 - 22
    areas = dict(re.findall(r'class="area (\w+)"(?: fill="[^"]*")? d="M\S+ ([\d.]+)h', drawn))
    height = bottom - 10
    assert float(areas["error"]) == pytest.approx(bottom - 0.4 * height, abs=0.1)
    assert float(areas["ok"]) == pytest.approx(bottom - height, abs=0.1)


def test_unknown_is_hatched_and_an_unfinished_period_as_well() -> None:
    drawn = svg.bars(
        frame(2, [3.0], partial=True), [Series(name="unknown", look="unknown", values=[1, 2])]
    )
    assert 'class="area unknown" fill="url(#hatch)"' in drawn
    assert 'class="partial" fill="url(#still)"' in drawn


def test_marks_have_a_lane_above_the_plot_and_their_labels_never_overlap() -> None:
    marks = [Mark(10, "v14-rc starts"), Mark(10.2, "v15 starts"), Mark(29, "v16 starts")]
    drawn = svg.lines(
        frame(30, [1.0], marks=marks), [Series(name="a", look="s1", values=[1.0] * 30)]
    )
    assert drawn.count('class="mark"') == 3
    labels = re.findall(r'class="marked (\w+)" x="([\d.]+)" y="(\d+)">([^<]+)', drawn)
    assert [(side, text) for side, _, _, text in labels] == [
        ("end", "v14-rc starts"),
        ("start", "v15 starts"),
        ("end", "v16 starts"),
    ]
    top = float(re.search(r'data-top="([\d.]+)"', drawn)[1])  # type: ignore[index]
    assert all(float(y) < top for _, _, y, _ in labels)


def test_a_mark_without_room_for_its_label_keeps_its_line() -> None:
    marks = [Mark(0, "v1 starts"), Mark(0.2, "v2 starts"), Mark(0.4, "v3 starts")]
    drawn = svg.lines(
        frame(30, [1.0], marks=marks), [Series(name="a", look="s1", values=[1.0] * 30)]
    )
    assert drawn.count('class="mark"') == 3
    assert re.findall(r'class="marked \w+"[^>]*>([^<]+)', drawn) == ["v3 starts"]


def test_a_chart_needs_no_style_and_no_script_and_says_what_it_shows() -> None:
    drawn = svg.bars(
        frame(2, [3.0], links=["/runs", "/runs"]),
        [Series(name="<b>", look="s1", values=[1, 2])],
    )
    assert "style=" not in drawn
    assert "<script" not in drawn
    assert "<b>" not in drawn
    assert 'role="img"' in drawn
    assert 'aria-label="Runs. 3 runs"' in drawn
    readings = re.search(r'data-read="([^"]*)"', drawn)[1]  # type: ignore[index]
    assert json.loads(readings.replace("&#34;", '"')) == ["day 0", "day 1"]


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e6)), max_size=40))
def test_a_spark_draws_any_course_and_nothing_for_no_course(values: list[float | None]) -> None:
    drawn = svg.spark(values, title="runs")
    known = [value for value in values if value is not None]
    assert bool(drawn) == (len(known) > 1)
    assert "nan" not in drawn


def test_a_line_chart_of_a_month_is_small() -> None:
    import gzip

    values = [float(index % 7) for index in range(30)]
    drawn = svg.lines(frame(30, values), [Series(name="a", look="s1", values=values)] * 2)
    assert len(gzip.compress(drawn.encode())) < 2_900


def test_tick_labels_never_overlap_and_the_last_point_keeps_its_own() -> None:
    many = Frame(
        title="Runs",
        finding="",
        readings=["" for _ in range(60)],
        ticks=[(index, "28 Nov 02:00") for index in (0, 5, 10, 30, 57, 59)],
        axis=axis([1]),
    )
    drawn = svg.bars(many, [Series(name="a", look="s1", values=[1] * 60)])
    places = [float(x) for x in re.findall(r'class="middle" x="([\d.]+)"[^>]*>28 Nov', drawn)]
    assert len(places) == 4
    assert min(b - a for a, b in itertools.pairwise(sorted(places))) > 12 * 5.9
    assert max(places) > 570


def test_a_band_that_leaves_the_axis_is_cut_at_its_end() -> None:
    series = Series(name="a", look="error", values=[1, 1], band=[(0, 99), (0, 1)])
    drawn = svg.lines(frame(2, [2.0]), [series])
    top = 190 - 22 - (190 - 22 - 10)
    ys = [float(y) for y in re.findall(r"[ML][\d.]+ (-?[\d.]+)", drawn)]
    assert min(ys) >= top
