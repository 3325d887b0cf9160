"""Addresses of lists: they say all of the state, and survive the way there and back."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from collector.views import RunPosition
from gnomon.clock import Nanos
from gnomon.errors import InputError
from gnomon.model import Origin, RunStatus
from gnomon.web.filters import NAMES, Query, packed, parse, unpacked
from gnomon.web.timeline import PERIODS, SECOND
from tests.desk import DAY, NOW

WORDS = st.text(min_size=1, max_size=20).map(str.strip).filter(bool)
FREE = sorted(set(NAMES) - {"status", "state", "origin", "part", "verdict"})
QUERIES = st.builds(
    Query,
    period=st.sampled_from([*PERIODS, "all"]),
    values=st.dictionaries(st.sampled_from(FREE), WORDS, max_size=4),
    keys=st.dictionaries(WORDS, WORDS, max_size=2),
    text=st.just("") | WORDS,
)


@given(QUERIES)
def test_an_address_holds_the_whole_state(query: Query) -> None:
    assert parse(QueryParams(urlsplit(query.url()).query)) == query


def test_a_range_of_time_survives_and_a_chosen_period_replaces_it() -> None:
    query = Query(period="7d").within(NOW - DAY, NOW)
    assert parse(QueryParams(urlsplit(query.url()).query)) == query
    assert parse(QueryParams(query.text_of_url() + "&period=24h")) == Query(period="24h")


def test_the_plain_address_asks_for_a_week_of_production() -> None:
    where = parse(QueryParams("")).where(NOW)
    assert where.origin is Origin.PRODUCTION
    assert where.until is None
    assert where.since is not None
    assert 0 <= NOW - where.since - 7 * DAY + 6 * 3600 * SECOND <= 6 * 3600 * SECOND
    assert parse(QueryParams("origin=all")).where(NOW).origin is None


def test_every_condition_is_a_chip_that_removes_just_itself() -> None:
    query = parse(QueryParams("status=error&agent=desk&key.order=O-1&q=parcel"))
    chips = {chip.name: chip for chip in query.chips()}
    assert set(chips) == {"status", "agent", "order", "text"}
    without = parse(QueryParams(urlsplit(chips["order"].without).query))
    assert without.keys == {}
    assert without.values == {"status": "error", "agent": "desk"}
    assert query.where(NOW).status is RunStatus.ERROR


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("status=broken", "status: 'broken' is none of ok, error, unknown"),
        ("state=gone", "state: 'gone' is none of open, settled"),
        ("origin=moon", "origin: 'moon' is none of production, shadow, replay, all"),
        ("period=8d", "period: '8d' is none of 1h, 24h, 3d, 7d, 30d, 90d, all"),
        ("since=soon", "since: 'soon' is no time"),
        ("since=99999999999", "since: '99999999999' is no time"),
        ("since=2026-10-02&until=2026-10-01", "until: '2026-10-01' must lie after since"),
    ],
)
def test_a_bad_address_is_refused_with_the_field_and_the_mend(asked: str, named: str) -> None:
    with pytest.raises(InputError, match=named.replace("(", r"\(")):
        parse(QueryParams(asked))


@given(st.integers(0, 2**63 - 1), st.text(min_size=1))
def test_positions_survive_the_trip(started: int, run_id: str) -> None:
    place = RunPosition(Nanos(started), run_id)
    assert unpacked("after", packed(place)) == place


@pytest.mark.parametrize("text", ["x", "1", "1.", ".a", "²3.a", "9" * 21 + ".a"])
def test_a_damaged_position_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no position in the list"):
        unpacked("after", text)


def test_no_position_is_the_first_page() -> None:
    assert unpacked("after", None) is None
    assert unpacked("after", "") is None
