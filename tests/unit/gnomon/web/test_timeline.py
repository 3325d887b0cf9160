"""Time cut into points: they cover what is asked, and every run lies in exactly one."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from collector.views import Deploy
from gnomon.clock import Nanos, from_nanos
from gnomon.web.timeline import PERIODS, SECOND, Timeline, back_from, timeline
from tests.desk import DAY, NOW
from tests.page_memory import bucket

MOMENTS = st.integers(0, 4_000_000_000 * SECOND)


def days_from(start: int, width: int) -> Timeline:
    """Return one point of a width, around a moment."""
    since = start // width * width
    year = from_nanos(NOW).year
    return Timeline(since=Nanos(since), until=Nanos(since + width), width=width, year=year)


@given(MOMENTS, MOMENTS)
def test_a_range_is_covered_by_at_most_62_points(a: int, b: int) -> None:
    since, until = sorted((a, b))
    time = timeline(Nanos(since), Nanos(until), now=NOW)
    assert time.since <= since
    assert time.until >= until
    assert 1 <= len(time.starts) <= 62
    assert all(start % time.width == 0 for start in time.starts)


@given(MOMENTS, st.sampled_from(sorted(PERIODS)))
def test_a_period_ends_with_the_point_of_now(now: int, name: str) -> None:
    time = back_from(Nanos(now), PERIODS[name])
    assert time.starts[-1] <= now < time.until
    assert time.partial(Nanos(now))


def test_points_without_runs_are_gaps() -> None:
    time = back_from(NOW, PERIODS["24h"])
    filled = time.fill([bucket(time.starts[3], [])])
    assert filled.count(None) == len(time.starts) - 1
    assert filled[3] is not None


def test_points_are_named_by_their_time() -> None:
    hour = days_from(NOW, 1800 * SECOND)
    assert hour.name(hour.starts[0]) == "21 Oct 12:00–12:30"
    assert hour.each == "30 minutes"
    days = days_from(NOW, 3 * DAY)
    assert days.name(days.starts[0]) == "19 Oct – 21 Oct"
    assert days_from(NOW, DAY).each == "day"


def test_another_year_is_written_and_the_present_one_is_not() -> None:
    long_ago = replace(days_from(NOW - 300 * DAY, DAY), year=2026)
    assert long_ago.name(long_ago.starts[0]) == "25 Dec 2025"
    assert long_ago.ticks()[-1][1] == "25 Dec 2025"
    then = timeline(Nanos(NOW - 300 * DAY), Nanos(NOW - 299 * DAY), now=NOW)
    assert "2025" in then.name(then.starts[0])


def test_deploys_are_marked_where_they_happened_and_named_by_agent_when_there_are_several() -> None:
    time = replace(days_from(NOW - 4 * DAY, DAY), until=Nanos(NOW // DAY * DAY + DAY))
    one = Deploy(agent="desk", version="v2", at=Nanos(time.since + 36 * 3600 * SECOND))
    (mark,) = time.marks([one], slots=False)
    assert (mark.place, mark.label) == (1.5, "v2 starts")
    other = Deploy(agent="crawler", version="7", at=one.at)
    assert [mark.label for mark in time.marks([one, other], slots=True)] == [
        "desk v2",
        "crawler 7",
    ]
    assert time.marks([Deploy(agent="a", version="1", at=Nanos(0))], slots=True) == []


@given(MOMENTS, st.sampled_from([*PERIODS, ""]), st.integers(1, 10**18))
def test_labels_are_few_in_order_and_end_on_the_last_point(
    now: int, name: str, length: int
) -> None:
    time = (
        back_from(Nanos(now), PERIODS[name])
        if name
        else timeline(Nanos(now), Nanos(now + length), now=Nanos(now))
    )
    places = [place for place, _ in time.ticks()]
    assert places[-1] == len(time.starts) - 1
    assert places == sorted(set(places))
    assert 1 <= len(places) <= 9


def test_labels_stand_on_even_times() -> None:
    day = back_from(NOW, PERIODS["24h"])
    assert [text for _, text in day.ticks()] == [
        *("12:30", "16:00", "20:00", "21 Oct", "04:00", "08:00", "12:00"),
    ]
    week = back_from(NOW, PERIODS["7d"])
    assert [text for _, text in week.ticks()][-3:] == ["19 Oct", "20 Oct", "21 Oct 12:00"]
    month = [text for _, text in back_from(NOW, PERIODS["30d"]).ticks()]
    assert (month[0], month[-1]) == ("22 Sep", "21 Oct")
