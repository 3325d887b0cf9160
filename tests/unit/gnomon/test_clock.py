import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.clock import Nanos, Window, from_nanos, moments, rfc3339, to_nanos
from gnomon.model import Run

DAY = dt.timedelta(days=1)
START = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
MOMENTS = st.datetimes(
    min_value=dt.datetime(1970, 1, 1),
    max_value=dt.datetime(2200, 1, 1),
    timezones=st.just(dt.UTC),
)


@given(MOMENTS)
def test_a_moment_survives_the_trip(moment: dt.datetime) -> None:
    assert from_nanos(to_nanos(moment)) == moment


def test_no_digit_of_a_nanosecond_is_lost() -> None:
    assert rfc3339(Nanos(1_762_074_720_123_456_789)) == "2025-11-02T09:12:00.123456789Z"
    assert rfc3339(Nanos(0)) == "1970-01-01T00:00:00.000000000Z"


def test_a_moment_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        to_nanos(dt.datetime(2026, 1, 1))
    with pytest.raises(ValueError, match="aware"):
        Window(dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 2))


def test_a_window_that_holds_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Window(START, START)


def test_moments_are_found_by_their_type() -> None:
    assert moments(Run) == {"started_at", "ended_at", "settled_at", "last_received_at"}
