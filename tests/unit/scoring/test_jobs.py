import datetime as dt
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.clock import Window
from gnomon.errors import NotFound, StoreUnavailable
from scoring.jobs import Done, Job, Jobs, floor

START = dt.datetime(2026, 11, 1, 8, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)


class Memory:
    def __init__(self) -> None:
        self.done: dict[str, list[Done]] = {}

    def last_end(self, job: str) -> dt.datetime | None:
        found = self.done.get(job)
        return max(one.window.end for one in found) if found else None

    def finish(self, done: Done) -> None:
        self.done.setdefault(done.job, []).append(done)

    def last(self, job: str) -> Done | None:
        found = self.done.get(job)
        return found[-1] if found else None

    def reopen(self, job: str, since: dt.datetime) -> None:
        kept = [done for done in self.done.get(job, []) if done.window.end <= since]
        self.done = {**self.done, job: kept}


class World:
    """A source that is complete up to a moment, and what was written per window."""

    def __init__(self) -> None:
        self.now = START
        self.written: dict[str, int] = {}
        self.calls = 0
        self.broken = False
        self.ledger = Memory()
        self.job = Job(
            name="count",
            width=HOUR,
            run=self.run,
            watermark=lambda: self.now,
            beginning=lambda: START + dt.timedelta(minutes=10),
        )
        self.jobs = Jobs(jobs=[self.job], ledger=self.ledger, clock=lambda: self.now)

    def run(self, window: Window, token: str) -> int:
        self.calls += 1
        if self.broken:
            raise StoreUnavailable
        self.written[token] = 1
        return 1


@given(st.lists(st.integers(0, 400), max_size=20))
def test_missed_and_doubled_ticks_end_in_the_same_tables(minutes: list[int]) -> None:
    world = World()
    for late in minutes:
        world.now += dt.timedelta(minutes=late)
        world.jobs.tick(world.job)
        world.jobs.tick(world.job)
    once = World()
    once.now = world.now
    once.jobs.tick(once.job)
    world.jobs.tick(world.job)
    assert world.written == once.written
    assert world.calls == once.calls, "a window was worked on twice"


def test_a_window_is_not_touched_before_its_source_is_complete() -> None:
    world = World()
    world.now = START + HOUR - dt.timedelta(microseconds=1)
    assert world.jobs.tick(world.job) == 0
    world.now = START + HOUR
    assert world.jobs.tick(world.job) == 1


def test_a_window_that_fails_stays_open_and_is_named() -> None:
    world = World()
    world.now = START + 3 * HOUR
    world.broken = True
    assert world.jobs.tick(world.job) == 0
    state = world.jobs.state(world.job)
    assert state.due == 3
    assert state.failing == "2026-11-01T08:00:00Z/2026-11-01T09:00:00Z: ClickHouse did not answer."
    assert world.calls == 1, "later windows wait for the one that failed"
    world.broken = False
    assert world.jobs.tick(world.job) == 3
    assert world.jobs.state(world.job).failing is None


def test_concurrent_ticks_work_once() -> None:
    world = World()
    world.now = START + HOUR
    inside, leave = threading.Event(), threading.Event()
    original: Callable[[Window, str], int] = world.run

    def slow(window: Window, token: str) -> int:
        inside.set()
        leave.wait(10)
        return original(window, token)

    job = Job(
        name="count",
        width=HOUR,
        run=slow,
        watermark=world.job.watermark,
        beginning=world.job.beginning,
    )
    jobs = Jobs(jobs=[job], ledger=world.ledger, clock=lambda: world.now)
    thread = threading.Thread(target=jobs.tick, args=(job,))
    thread.start()
    assert inside.wait(10)
    assert jobs.tick(job) == 0
    leave.set()
    thread.join(10)
    assert world.calls == 1


def test_nothing_to_work_on_is_healthy() -> None:
    job = Job(
        name="idle",
        width=HOUR,
        run=lambda _window, _token: 1,
        watermark=lambda: START + HOUR,
        beginning=lambda: None,
    )
    jobs = Jobs(jobs=[job], ledger=Memory(), clock=lambda: START)
    assert jobs.tick(job) == 0
    state = jobs.state(job)
    assert (state.due, state.last, state.failing, state.lag) == (0, None, None, None)


def test_a_job_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(NotFound, match="there are count"):
        World().jobs.named("nothing")


def test_windows_start_on_whole_widths() -> None:
    assert floor(START + dt.timedelta(minutes=59), HOUR) == START
    assert floor(START, HOUR) == START


def sparse(world: World, moments: list[dt.datetime]) -> Job:
    def upcoming(start: dt.datetime) -> dt.datetime | None:
        return next((moment for moment in moments if moment >= start), None)

    return replace(world.job, upcoming=upcoming, beginning=lambda: upcoming(START))


@given(
    st.lists(st.integers(0, 60 * 40), max_size=6).map(sorted),
    st.lists(st.integers(0, 600), max_size=10),
)
def test_windows_with_nothing_in_them_are_skipped_and_no_other(
    minutes: list[int], late: list[int]
) -> None:
    world = World()
    moments = [START + dt.timedelta(minutes=minute) for minute in minutes]
    job = sparse(world, moments)
    jobs = Jobs(jobs=[job], ledger=world.ledger, clock=lambda: world.now)
    for wait in [*late, 60 * 48]:
        world.now += dt.timedelta(minutes=wait)
        jobs.tick(job)
    busy = {Window(floor(moment, HOUR), floor(moment, HOUR) + HOUR) for moment in moments}
    assert set(world.written) == {f"count:{window}" for window in busy}
    assert world.calls == len(busy)
    done = [one.window for one in world.ledger.done.get("count", [])]
    assert all(one.end == other.start for one, other in pairwise(done)), "a gap"
    assert jobs.state(job).due == 0


def test_a_source_that_does_not_answer_leaves_its_window_open() -> None:
    world = World()
    world.now = START + 3 * HOUR

    def gone(_start: dt.datetime) -> dt.datetime | None:
        raise StoreUnavailable

    job = replace(world.job, upcoming=gone)
    jobs = Jobs(jobs=[job], ledger=world.ledger, clock=lambda: world.now)
    assert jobs.tick(job) == 0
    assert jobs.failures == {"count": "ClickHouse did not answer."}
    assert world.ledger.done == {}


def test_a_defect_in_a_job_is_named_like_any_failure() -> None:
    world = World()
    world.now = START + 3 * HOUR

    def broken(_window: Window, _token: str) -> int:
        raise KeyError("x")

    job = replace(world.job, run=broken)
    jobs = Jobs(jobs=[job], ledger=world.ledger, clock=lambda: world.now)
    assert jobs.tick(job) == 0
    assert jobs.state(job).failing == "2026-11-01T08:00:00Z/2026-11-01T09:00:00Z: KeyError: 'x'"
    assert jobs.state(job).due == 3


@pytest.mark.parametrize("death", [KeyboardInterrupt("x"), MemoryError("x")])
def test_a_tick_that_dies_of_anything_leaves_its_reason(death: BaseException) -> None:
    world = World()
    world.now = START + 3 * HOUR
    gone = [True]

    def upcoming(start: dt.datetime) -> dt.datetime | None:
        if gone[0]:
            raise death
        return start

    job = replace(world.job, upcoming=upcoming)
    jobs = Jobs(jobs=[job], ledger=world.ledger, clock=lambda: world.now)
    with pytest.raises(type(death)):
        jobs.tick(job)
    assert jobs.state(job).failing == f"{type(death).__name__}: x"
    gone[0] = False
    assert jobs.tick(job) == 3
    assert jobs.failures == {}


def test_a_reason_is_gone_once_there_is_nothing_due() -> None:
    world = World()
    answers = [True]

    def complete() -> dt.datetime | None:
        if answers[0]:
            raise StoreUnavailable
        return START

    job = replace(world.job, watermark=complete)
    jobs = Jobs(jobs=[job], ledger=world.ledger, clock=lambda: world.now)
    with pytest.raises(StoreUnavailable):
        jobs.tick(job)
    assert jobs.failures == {"count": "ClickHouse did not answer."}
    answers[0] = False
    assert jobs.tick(job) == 0
    assert jobs.failures == {}


def test_a_window_is_closed_only_when_source_and_clock_agree() -> None:
    world = World()
    job = replace(world.job, watermark=lambda: START + 9 * HOUR)
    jobs = Jobs(jobs=[job], ledger=world.ledger, clock=lambda: world.now)
    world.now = START + HOUR
    assert jobs.tick(job) == 1
    assert jobs.state(job).due == 0


def test_a_clock_that_went_back_opens_its_windows_again_and_says_so() -> None:
    world = World()
    world.now = START + 9 * HOUR
    assert world.jobs.tick(world.job) == 9
    world.now = START + 3 * HOUR
    wrong = world.jobs.state(world.job)
    assert wrong.lag == dt.timedelta(0)
    assert wrong.failing is not None
    assert wrong.failing.startswith("its ledger ends 21600 s in the future")
    assert "set the clock right" in wrong.failing
    assert world.jobs.tick(world.job) == 0
    assert world.jobs.state(world.job).failing is None
    world.now += HOUR
    assert world.jobs.tick(world.job) == 1
    assert [one.window.end for one in world.ledger.done["count"]][-1] == START + 4 * HOUR
