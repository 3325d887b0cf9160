"""The roll-up with processes of its own: the same rows, whatever becomes of the processes."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.folding import workers
from collector.folding.lot import TraceFolding
from collector.folding.rollup import RollUp
from collector.store import Reader, Writer
from collector.views import RunFilter
from collector.watched import RunNaming, Watched
from gnomon.child import Child
from gnomon.clock import Nanos, from_nanos
from gnomon.model import Run
from gnomon.store import Store
from tests import samples
from tests.child_work import POISON
from tests.stores import emptied, migrated_store, put
from tests.touched import MemoryTouched

SECOND = 1_000_000_000
START = Nanos(2_000_000_000 * SECOND)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with migrated_store("embedded", tmp_path_factory.mktemp("data")) as store:
        yield store


@pytest.fixture
def store(opened: Store) -> Store:
    return emptied(opened)


class House:
    """A store, what was touched, and the roll-up between."""

    def __init__(self, store: Store, processes: int, watched: Watched) -> None:
        self.now = START
        self.store = store
        self.touched = MemoryTouched()
        self.reader = Reader(store)
        self.folding = TraceFolding(self.reader, Writer(store), watched, processes=processes)
        self.rollup = RollUp(self.folding, self.touched, clock=lambda: from_nanos(self.now))

    def send(self, request: ExportTraceServiceRequest) -> None:
        put(self.store, "traces", request.SerializeToString())
        arrived = {span.trace_id for span in samples.spans_of(request)}
        self.touched.touch(dict.fromkeys(arrived, self.now), self.now)

    def fold(self) -> None:
        while self.rollup.pass_once():
            pass

    def runs(self) -> dict[str, Run]:
        return {run.run_id: run for run in self.reader.runs(RunFilter(origin=None), limit=500)}

    @property
    def children(self) -> list[Child]:
        return [worker for worker in self.folding._workers if isinstance(worker, Child)]


Building = Callable[..., House]


@pytest.fixture
def build(store: Store) -> Iterator[Building]:
    built: list[House] = []

    def make(processes: int = 1, watched: Watched | None = None) -> House:
        built.append(House(store, processes, watched or Watched()))
        return built[-1]

    yield make
    for house in built:
        house.rollup.stop(10)


def trace(trace_id: str, spans: int = 3, **attributes: str) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    scoped = request.resource_spans.add().scope_spans.add()
    for number in range(spans):
        span = scoped.spans.add(
            trace_id=bytes.fromhex(trace_id),
            span_id=(number + 1).to_bytes(8, "big"),
            parent_span_id=b"" if number == 0 else (1).to_bytes(8, "big"),
            name="work",
            start_time_unix_nano=START - SECOND + number,
            end_time_unix_nano=START - SECOND + 100,
        )
        for key, value in attributes.items():
            span.attributes.add(key=key).value.string_value = value
    return request


def ids(count: int) -> list[str]:
    return [f"{number + 1:032x}" for number in range(count)]


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
def test_the_rows_are_the_same_however_many_processes_fold(store: Store, build: Building) -> None:
    found = []
    for processes in (0, 1, 3):
        emptied(store)
        house = build(processes)
        for name in samples.names()[::10]:
            house.send(samples.trace_request(name))
        house.fold()
        house.now = Nanos(START + 1_000 * SECOND)
        house.fold()
        steps = {
            (listed.step.trace_id, listed.step.span_id): listed.step
            for run in house.runs().values()
            for listed in house.reader.steps(run, limit=500)
        }
        found.append((house.runs(), steps))
        assert house.touched.waiting == {}
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]) > 10


def test_several_processes_share_the_traces_out(build: Building) -> None:
    house = build(3)
    for trace_id in ids(30):
        house.send(trace(trace_id))
    house.fold()
    assert len(house.runs()) == 30
    shares = house.folding.shares(house.touched.due(Nanos(2**62), 100))
    assert len(shares) == 3
    assert len({child.pid for child in house.children}) == 3


def test_runs_that_may_span_traces_are_folded_by_one_process(build: Building) -> None:
    house = build(3, Watched(runs=RunNaming(run_id=("request",))))
    assert len(house.children) == 1
    for number, trace_id in enumerate(ids(30)):
        house.send(trace(trace_id, request=f"r-{number % 2}"))
    house.fold()
    assert {run_id: run.spans for run_id, run in house.runs().items()} == {"r-0": 45, "r-1": 45}


def test_a_process_that_is_killed_in_the_midst_of_a_lot_costs_nothing(
    build: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WORK", "tests.child_work:Sleepy")
    house = build()
    for trace_id in ids(2):
        house.send(trace(trace_id))
    house.folding.begin()
    (child,) = house.children
    first = child.pid
    assert first is not None
    threading.Timer(0.5, os.kill, (first, signal.SIGKILL)).start()
    house.fold()
    assert {run_id: run.spans for run_id, run in house.runs().items()} == dict.fromkeys(ids(2), 3)
    assert house.rollup.set_aside() == []
    assert child.pid != first


def test_a_trace_that_ends_its_process_is_set_aside_alone(
    build: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WORK", "tests.child_work:Poisoned")
    house = build()
    good = ids(6)
    for trace_id in [*good[:3], POISON, *good[3:]]:
        house.send(trace(trace_id))
    house.now = Nanos(START + 1_000 * SECOND)
    house.fold()
    assert set(house.runs()) == set(good)
    assert [(one.trace_id, one.error) for one in house.rollup.set_aside()] == [
        (POISON, "ChildDied")
    ]
    assert set(house.touched.waiting) == {POISON}, "it is tried again later"
    monkeypatch.undo()
    mended = build()
    mended.touched = house.touched
    mended.rollup = RollUp(mended.folding, house.touched, clock=lambda: from_nanos(mended.now))
    mended.now = Nanos(START + 10_000 * SECOND)
    mended.fold()
    assert set(mended.runs()) == {POISON, *good}


def test_processes_that_cannot_start_are_a_named_problem_until_they_can(
    build: Building, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    house = build()
    house.send(trace(ids(1)[0]))
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(tmp_path / "python"))
        house.rollup.start()
        waited = threading.Event()
        for _ in range(200):
            if house.rollup.problem() is not None:
                break
            waited.wait(0.05)
        problem = str(house.rollup.problem())
        assert "cannot be started (No such file or directory)" in problem
        assert "GNOMON_FOLD_PROCESSES=0" in problem
        assert house.runs() == {}
    for _ in range(400):
        if house.runs():
            break
        waited.wait(0.05)
    assert set(house.runs()) == set(ids(1))
    assert house.rollup.problem() is None
