"""The rehearsal: both releases meet the same tasks, and only their own mistakes tell them apart."""

import datetime as dt

import pytest

from gnomon.cli.demo.desk import Handled
from gnomon.cli.demo.rehearsal import TASKS, rehearsal
from gnomon.clock import to_nanos

START = to_nanos(dt.datetime(2026, 11, 2, 12, tzinfo=dt.UTC))


@pytest.fixture(scope="module")
def handled() -> list[Handled]:
    return list(rehearsal(7, "day", START))


def root(one: Handled) -> dict[str, object]:
    (span,) = [span for span in one.spans if span.parent is None]
    return {**span.resource.attributes, **span.attributes}


def test_every_task_is_tried_once_by_each_release(handled: list[Handled]) -> None:
    tried = {(root(one)["rehearsal.task"], one.truth.agent_version) for one in handled}
    assert len(tried) == len(handled) == 2 * TASKS
    assert len({one.truth.run_id for one in handled}) == len(handled)
    assert len({one.truth.ticket for one in handled}) == len(handled)


def test_the_releases_meet_the_same_request_and_differ_in_what_they_do(
    handled: list[Handled],
) -> None:
    pairs = list(zip(handled[::2], handled[1::2], strict=True))
    for old, new in pairs:
        assert old.truth.topic == new.truth.topic
        assert old.truth.customer == new.truth.customer
        assert old.truth.due == new.truth.due
        assert 0 < new.truth.started_at - old.truth.started_at <= 60 * 1_000_000_000
    right = [(old.truth.state_right, new.truth.state_right) for old, new in pairs]
    assert right.count((False, True)) > right.count((True, False))


def test_rehearsals_are_no_production_and_lie_in_the_past(handled: list[Handled]) -> None:
    for one in handled:
        said = root(one)
        assert said["gnomon.origin"] == "replay"
        assert said["deployment.environment.name"] == "rehearsal"
        assert one.truth.ended_at < START
