"""A trace that cannot be folded stays in sight until it can be."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry

from collector.folding.rollup import RollUp
from collector.folding.set_aside import SetAside
from collector.metrics import LedgerMetrics
from collector.queue.port import Touched
from gnomon.clock import Nanos, from_nanos
from tests.page_memory import MemoryBooks
from tests.scripted_folding import ScriptedFolding
from tests.touched import MemoryTouched

HOUR = 3_600_000_000_000
NOW = Nanos(1_900_000_000 * 1_000_000_000)
BAD, GOOD = "b" * 32, "a" * 32


class Folding(ScriptedFolding):
    """Folds every trace but those that are bad."""

    def __init__(self) -> None:
        self.bad = {BAD}

    def fold(self, traces: Sequence[Touched], now: Nanos) -> dict[str, Nanos]:
        if self.bad & {trace.trace_id for trace in traces}:
            raise OverflowError("a figure does not fit")
        return {}


class House:
    def __init__(self) -> None:
        self.now = NOW
        self.folding = Folding()
        self.touched = MemoryTouched()
        self.touched.touch({BAD: NOW, GOOD: NOW}, NOW)
        self.restart()

    def restart(self) -> None:
        self.rollup = RollUp(self.folding, self.touched, clock=lambda: from_nanos(self.now))


def test_a_bad_trace_is_named_and_the_others_are_folded():
    house = House()
    house.rollup.pass_once()
    assert house.rollup.set_aside() == [SetAside(trace_id=BAD, error="OverflowError", since=NOW)]
    assert set(house.touched.waiting) == {BAD}


def test_it_is_tried_again_and_keeps_the_time_of_its_first_failure():
    house = House()
    house.rollup.pass_once()
    house.now = Nanos(NOW + HOUR)
    house.rollup.pass_once()
    assert [one.since for one in house.rollup.set_aside()] == [NOW]
    house.folding.bad = set()
    house.now = Nanos(NOW + 2 * HOUR)
    house.rollup.pass_once()
    assert house.rollup.set_aside() == []


def test_it_is_known_again_soon_after_a_restart():
    house = House()
    house.rollup.pass_once()
    house.restart()
    assert house.rollup.set_aside() == []
    house.touched.wake(house.now)  # as `start` does
    house.rollup.pass_once()
    assert [one.trace_id for one in house.rollup.set_aside()] == [BAD]


def test_starting_wakes_what_waits():
    house = House()
    house.rollup.pass_once()
    house.folding.bad = set()
    house.restart()
    house.rollup.start()
    house.rollup.stop(10)
    assert house.touched.due(NOW, 10) != [] or house.touched.waiting == {}


def test_the_number_of_unread_traces_is_a_figure():
    house = House()
    house.rollup.pass_once()
    registry = CollectorRegistry()
    clock = lambda: from_nanos(NOW)  # noqa: E731 - a clock is a function
    registry.register(LedgerMetrics(MemoryBooks(), clock, house.rollup.set_aside))
    assert registry.get_sample_value("gnomon_traces_unread") == 1
