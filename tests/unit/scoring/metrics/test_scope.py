import pytest

from gnomon.clock import LAST_MOMENT, Nanos
from gnomon.errors import InputError
from gnomon.model import Origin
from scoring.metrics.scope import Scope

KEYS = {"topic": "ticket_topic"}
FULL = Scope(
    agent="desk", version="rc4", environment="prod", slices={"topic": "damaged"}, since=Nanos(0),
    until=Nanos(1_000_000_000),
)  # fmt: skip


def test_every_settled_run_of_a_scope_is_found_in_the_list_of_runs() -> None:
    link = FULL.link("scoped", 7, keys=KEYS, plain=True)
    assert link.path == "/v1/runs"
    assert link.query == {
        "agent": "desk",
        "version": "rc4",
        "environment": "prod",
        "since": "1970-01-01T00:00:00.000000000Z",
        "until": "1970-01-01T00:00:01.000000000Z",
        "origin": "production",
        "key": ["ticket_topic:damaged"],
        "state": "settled",
    }
    assert link.runs == 7


def test_a_part_of_a_scope_that_ends_past_the_last_moment_has_no_end() -> None:
    asked = Scope(since=Nanos(5))
    last = Nanos(LAST_MOMENT - 9)
    assert asked.within(last, Nanos(LAST_MOMENT + 1)) == Scope(since=last)
    assert asked.within(last, LAST_MOMENT) == Scope(since=last, until=LAST_MOMENT)
    assert asked.within(Nanos(-3), Nanos(7)) == Scope(since=Nanos(5), until=Nanos(7))
    assert Scope().within(Nanos(-3), Nanos(7)) == Scope(since=Nanos(0), until=Nanos(7))


def test_a_part_is_found_in_the_list_behind_metrics() -> None:
    link = FULL.link("verified", 3, keys=KEYS, plain=False)
    assert link.path == "/v1/metrics/runs"
    assert link.query["part"] == "verified"
    assert link.query["slice"] == ["topic:damaged"]


def test_runs_without_a_version_are_asked_for_where_that_can_be_said() -> None:
    link = Scope(version="").link("scoped", 1, keys=KEYS, plain=True)
    assert link.path == "/v1/metrics/runs"


def test_the_filter_asks_for_what_the_scope_says() -> None:
    where = FULL.where(KEYS)
    assert where.business_keys == {"ticket_topic": "damaged"}
    assert (where.agent, where.version, where.environment) == ("desk", "rc4", "prod")
    assert (where.since, where.until, where.origin) == (0, 1_000_000_000, Origin.PRODUCTION)
    assert where.state is None


def test_an_unknown_slice_names_those_there_are() -> None:
    with pytest.raises(InputError, match="known: topic"):
        Scope(slices={"colour": "red"}).where({"topic": "topic"})


def test_a_narrower_window_never_widens() -> None:
    assert FULL.within(Nanos(-5), Nanos(500)).since == 0
    assert FULL.within(Nanos(-5), Nanos(500)).until == 500
