"""The clockwork ticks by itself, names what fails, and stops in time."""

import datetime as dt
import threading

import pytest

from gnomon.clock import Window, utc_now
from gnomon.errors import StoreUnavailable
from scoring.jobs import Done, Job, Jobs
from scoring.scheduler import Scheduler

WIDTH = dt.timedelta(seconds=1)


class Memory:
    def __init__(self) -> None:
        self.done: list[Done] = []

    def last_end(self, job: str) -> dt.datetime | None:
        return self.done[-1].window.end if self.done else None

    def finish(self, done: Done) -> None:
        self.done.append(done)

    def last(self, job: str) -> Done | None:
        return self.done[-1] if self.done else None


def jobs_of(run: object) -> tuple[Jobs, Memory]:
    ledger = Memory()
    begun = utc_now() - dt.timedelta(seconds=5)
    job = Job(
        name="count",
        width=WIDTH,
        run=run,  # type: ignore[arg-type]
        watermark=utc_now,
        beginning=lambda: begun,
    )
    return Jobs(jobs=[job], ledger=ledger, clock=utc_now), ledger


def test_it_ticks_until_it_is_stopped() -> None:
    ran = threading.Event()

    def work(_window: Window, _token: str) -> int:
        ran.set()
        return 1

    jobs, ledger = jobs_of(work)
    scheduler = Scheduler(jobs, threading.Event(), every=0.05)
    assert scheduler.problem() == "not started"
    scheduler.start()
    try:
        assert ran.wait(10)
        assert scheduler.problem() is None
    finally:
        scheduler.stop(10)
    assert scheduler.problem() is None
    ended = len(ledger.done)
    assert ended >= 1
    scheduler.stop(1)


def test_a_window_that_fails_is_named_until_it_is_mended() -> None:
    broken = True
    tried = threading.Event()

    def work(_window: Window, _token: str) -> int:
        tried.set()
        if broken:
            raise StoreUnavailable
        return 1

    jobs, _ = jobs_of(work)
    told = threading.Event()
    scheduler = Scheduler(jobs, threading.Event(), every=0.05, ticked=lambda _job: told.set())
    scheduler.start()
    try:
        assert told.wait(10)
        found = scheduler.problem()
        assert found is not None
        assert found.startswith("count: ")
        assert found.endswith("ClickHouse did not answer.")
        broken = False
        for _ in range(100):
            told.clear()
            assert told.wait(10)
            if scheduler.problem() is None:
                break
        assert scheduler.problem() is None
    finally:
        scheduler.stop(10)


def test_a_defect_of_a_job_is_named_and_tried_again() -> None:
    def work(_window: Window, _token: str) -> int:
        raise TypeError("a defect")

    jobs, ledger = jobs_of(work)
    assert jobs.tick(jobs.named("count")) == 0
    assert jobs.failures["count"].endswith("TypeError: a defect")
    assert ledger.done == []


@pytest.mark.parametrize("started", [True, False])
def test_stopping_is_harmless_at_any_time(started: bool) -> None:
    jobs, _ = jobs_of(lambda _window, _token: 0)
    scheduler = Scheduler(jobs, threading.Event(), every=60)
    if started:
        scheduler.start()
    scheduler.stop(10)
    scheduler.stop(10)
    assert scheduler.problem() in (None, "not started")
    assert not [thread for thread in threading.enumerate() if "APScheduler" in thread.name]
