import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.encoded import Rows
from collector.folding.fold import fold_traces
from collector.folding.lot import TraceFolding, reading_of
from collector.folding.rollup import RollUp, lots
from collector.queue.port import Touched
from collector.refold import refold
from collector.spans import LogRecord, Span
from collector.store import Reader, Writer
from collector.views import RunFilter
from collector.watched import Price, RunNaming, Watched
from gnomon.clock import Nanos, from_nanos, to_nanos
from gnomon.errors import StoreUnavailable
from gnomon.model import Run, RunState, Step
from gnomon.store import Store
from tests import samples
from tests.scripted_folding import ScriptedFolding
from tests.stores import put
from tests.touched import MemoryTouched

SECOND = 1_000_000_000
PROCESSES = 0
MANY = [
    "agent-framework-1.23.0-tool",
    "anthropic-sdk-2.14.0-err",
    "claude-code-2.1.332-sub",
    "openinference-google-adk-1.0.5-multi",
    "pydantic-ai-0.4.10-v1-evlogs",
]

pytestmark = pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)


class House:
    """A store, what was touched, and the roll-up between, on a clock that stands still."""

    def __init__(self, store: Store, watched: Watched | None = None) -> None:
        self.store = store
        self.now = Nanos(2_000_000_000 * SECOND)
        self.touched = MemoryTouched()
        self.reader = Reader(store)
        self.writer = CountingWriter(store)
        self.watched = watched or Watched()
        self.received: dict[str, Nanos] = {}
        self.build(self.watched)

    def build(self, watched: Watched) -> None:
        self.watched = watched
        folding = TraceFolding(self.reader, self.writer, watched, processes=PROCESSES)
        self.rollup = RollUp(folding, self.touched, clock=lambda: from_nanos(self.now))

    def send(self, *requests: ExportTraceServiceRequest, at: Nanos | None = None) -> None:
        put(self.store, "traces", *[request.SerializeToString() for request in requests])
        self.arrived({s.trace_id for r in requests for s in samples.spans_of(r)}, at)

    def send_sample(self, name: str) -> None:
        self.send(samples.trace_request(name))
        if (logs := samples.logs_request(name)) is not None:
            put(self.store, "logs", logs.SerializeToString())
            self.arrived({log.trace_id for log in samples.logs(name)} - {""})

    def arrived(self, traces: set[str], at: Nanos | None = None) -> None:
        moment = at or self.now
        self.received |= dict.fromkeys(traces, moment)
        self.touched.touch(dict.fromkeys(traces, moment), self.now)

    def fold(self) -> None:
        while self.rollup.pass_once():
            pass

    def later(self, seconds: int) -> None:
        self.now = Nanos(self.now + seconds * SECOND)

    def runs(self) -> dict[str, Run]:
        return {run.run_id: run for run in self.reader.runs(RunFilter(origin=None), limit=500)}

    def steps(self) -> dict[tuple[str, str], Step]:
        return {
            (listed.step.trace_id, listed.step.span_id): listed.step
            for run in self.runs().values()
            for listed in self.reader.steps(run, limit=500)
        }


class CountingWriter(Writer):
    """Counts rows, and fails once when told to."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.written: dict[str, int] = {}
        self.fail_after: int | None = None

    def write(self, rows: Rows) -> None:
        if self.fail_after is not None:
            self.fail_after -= 1
            if self.fail_after < 0:
                raise StoreUnavailable("the test pulled the plug")
        super().write(rows)
        self.written[rows.table] = self.written.get(rows.table, 0) + rows.count


def expected(house: House, spans: Sequence[Span], logs: Sequence[LogRecord] = ()) -> dict[str, Run]:
    """Fold what was sent without any store."""
    folded = fold_traces(
        spans, logs, watched=house.watched, previous={}, received=house.received, now=house.now
    )
    return undigested({run.run_id: run for run in folded.runs})


def undigested(runs: Mapping[str, Run]) -> dict[str, Run]:
    """Runs without the digest of their content: the store has its own name for each span."""
    return {key: replace(run, content_digest="") for key, run in runs.items()}


def test_what_was_sent_is_found_as_steps_and_runs(store: Store) -> None:
    house = House(store)
    for name in MANY:
        house.send_sample(name)
    house.fold()
    spans = [span for name in MANY for span in samples.spans(name)]
    logs = [log for name in MANY for log in samples.logs(name)]
    folded = fold_traces(
        spans, logs, watched=house.watched, previous={}, received=house.received, now=house.now
    )
    assert undigested(house.runs()) == undigested({run.run_id: run for run in folded.runs})
    assert house.steps() == {(s.trace_id, s.span_id): s for s in folded.steps}


def pieces(name: str, count: int, chance: random.Random) -> list[ExportTraceServiceRequest]:
    """Cut a request into shuffled requests of some spans each, several of them twice."""
    found = []
    for block in samples.trace_request(name).resource_spans:
        for scoped in block.scope_spans:
            for span in scoped.spans:
                one = ExportTraceServiceRequest()
                target = one.resource_spans.add(resource=block.resource)
                target.scope_spans.add(scope=scoped.scope, spans=[span])
                found.append(one)
    found += chance.choices(found, k=len(found) // 2)
    chance.shuffle(found)
    merged = [ExportTraceServiceRequest() for _ in range(count)]
    for number, one in enumerate(found):
        merged[number % count].MergeFrom(one)
    return merged


def plain(run: Run) -> Run:
    """A run without what only tells how often, and when, it was folded."""
    return replace(run, revision=0, settled_at=None, content_digest="")


@pytest.mark.parametrize("seed", range(3))
def test_order_repetition_and_delay_change_nothing(store: Store, seed: int) -> None:
    chance = random.Random(seed)  # the seed is the test's name
    house = House(store)
    first = house.now
    for name in MANY:
        for piece in pieces(name, 4, chance):
            house.send(piece, at=first)
            if chance.random() < 0.5:
                house.fold()
            if chance.random() < 0.3:
                house.later(600)
        if (logs := samples.logs_request(name)) is not None:
            put(store, "logs", logs.SerializeToString())
            house.arrived({log.trace_id for log in samples.logs(name)} - {""}, at=first)
    house.later(600)
    house.fold()
    spans = [span for name in MANY for span in samples.spans(name)]
    logs_sent = [log for name in MANY for log in samples.logs(name)]
    want = expected(house, spans, logs_sent)
    assert {key: plain(run) for key, run in house.runs().items()} == {
        key: plain(run) for key, run in want.items()
    }
    assert len(house.steps()) == len({(s.trace_id, s.span_id) for s in spans})


def test_a_quiet_run_settles_without_being_read_as_it_would_by_reading(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(store)
    for name in MANY:
        house.send_sample(name)
    house.fold()
    house.later(600)
    with monkeypatch.context() as patched:
        patched.setattr(house.reader, "span_lines", lambda _traces: pytest.fail("spans were read"))
        house.fold()
    spans = [span for name in MANY for span in samples.spans(name)]
    logs = [log for name in MANY for log in samples.logs(name)]
    assert undigested(house.runs()) == expected(house, spans, logs)
    assert {run.state for run in house.runs().values()} == {RunState.SETTLED}
    assert house.touched.waiting == {}


def test_a_quiet_run_settles_alike_after_a_restart(store: Store) -> None:
    house = House(store)
    house.send_sample(MANY[0])
    house.fold()
    house.build(house.watched)
    house.later(600)
    house.fold()
    assert undigested(house.runs()) == expected(
        house, samples.spans(MANY[0]), samples.logs(MANY[0])
    )


def test_a_quiet_run_settles_and_its_steps_are_not_written_again(store: Store) -> None:
    house = House(store)
    house.send_sample(MANY[0])
    house.fold()
    assert {run.state for run in house.runs().values()} == {RunState.OPEN}
    written = dict(house.writer.written)
    house.later(600)
    house.fold()
    assert {run.state for run in house.runs().values()} == {RunState.SETTLED}
    assert house.writer.written["steps"] == written["steps"]
    assert house.touched.waiting == {}


def test_a_repeat_writes_nothing(store: Store) -> None:
    house = House(store)
    house.send_sample(MANY[0])
    house.later(600)
    house.fold()
    version, first = house.reader.data_version(), house.now
    received = next(iter(house.received.values()))
    house.touched.touch(dict.fromkeys(house.received, received), house.now)
    house.later(5)
    house.fold()
    assert house.reader.data_version() == version
    assert house.now > first


@pytest.mark.parametrize("writes", range(4))
def test_a_crash_between_two_writes_leaves_nothing_wrong(store: Store, writes: int) -> None:
    house = House(store)
    whole = samples.trace_request(MANY[2])
    parts = pieces(MANY[2], 2, random.Random(1))
    house.send(parts[0])
    house.fold()
    house.send(parts[1])
    house.send(whole)
    house.later(3)
    house.writer.fail_after = writes
    with_plug_pulled = True
    try:
        house.fold()
        with_plug_pulled = False
    except StoreUnavailable:
        pass
    assert with_plug_pulled == (writes < 2)
    house.writer.fail_after = None
    house.later(600)
    house.fold()
    want = expected(house, samples.spans_of(whole))
    assert {key: plain(run) for key, run in house.runs().items()} == {
        key: plain(run) for key, run in want.items()
    }
    places = house.reader.places(house.runs())
    assert len(places) == len(want), "each run stands at one place"


def one_span(trace: int, span: int, start: int, **attributes: str) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    added = (
        request.resource_spans.add()
        .scope_spans.add()
        .spans.add(
            trace_id=trace.to_bytes(16, "big"),
            span_id=span.to_bytes(8, "big"),
            name="work",
            start_time_unix_nano=start,
            end_time_unix_nano=start + 10,
        )
    )
    for key, value in attributes.items():
        added.attributes.add(key=key).value.string_value = value
    return request


NAMED = Watched(runs=RunNaming(run_id=("request",)))
T = 1_900_000_000 * SECOND


def test_traces_that_carry_one_run_id_are_one_run_whenever_they_come(store: Store) -> None:
    house = House(store, NAMED)
    house.send(one_span(1, 1, T, request="r-1"))
    house.fold()
    house.send(one_span(2, 2, T - 5, request="r-1"))
    house.fold()
    house.later(60)
    house.send(one_span(3, 3, T + 5, request="r-1"), one_span(4, 4, T, request="r-2"))
    house.fold()
    runs = house.runs()
    assert set(runs) == {"r-1", "r-2"}
    assert [int(trace, 16) for trace in runs["r-1"].trace_ids] == [1, 2, 3]
    assert runs["r-1"].started_at == T - 5
    assert runs["r-1"].spans == 3


def test_a_run_whose_start_moves_back_stands_once(store: Store) -> None:
    house = House(store)
    house.send(one_span(1, 1, T))
    house.fold()
    house.send(one_span(1, 2, T - 100))
    house.later(5)
    house.fold()
    assert [run.started_at for run in house.runs().values()] == [T - 100]
    assert house.reader.count(RunFilter()) == 1


def test_a_changed_naming_moves_history_with_one_command(store: Store) -> None:
    house = House(store)
    house.send(one_span(1, 1, T, request="r-1"), one_span(2, 2, T, request="r-1"))
    house.later(600)
    house.fold()
    assert len(house.runs()) == 2
    house.build(NAMED)
    assert list(refold(house.reader, house.touched, since=Nanos(0), now=house.now)) == [2]
    house.later(600)
    house.fold()
    runs = house.runs()
    assert set(runs) == {"r-1"}
    assert runs["r-1"].spans == 2
    assert {step.run_id for step in house.steps().values()} == {"r-1"}


def test_a_refold_changes_only_the_fields_of_the_changed_rule(store: Store) -> None:
    house = House(store)
    for name in MANY:
        house.send_sample(name)
    house.later(600)
    house.fold()
    runs, steps = house.runs(), house.steps()
    house.build(Watched(prices=(Price(model="*", input=1.0, output=2.0),)))
    counts = list(refold(house.reader, house.touched, since=Nanos(0), now=house.now))
    assert sum(counts) == len({step.trace_id for step in steps.values()})
    house.later(600)
    house.fold()

    def unpriced(run: Run) -> Run:
        return replace(run, cost_usd=None, unpriced_calls=0)

    assert {key: unpriced(run) for key, run in house.runs().items()} == {
        key: unpriced(run) for key, run in runs.items()
    }
    assert any(run.cost_usd is not None for run in house.runs().values())
    assert {key: replace(step, cost_usd=None) for key, step in house.steps().items()} == steps


def test_history_before_the_time_asked_for_is_left_alone(store: Store) -> None:
    house = House(store)
    house.send(one_span(1, 1, T), one_span(2, 2, T + 100))
    assert sum(refold(house.reader, house.touched, since=Nanos(T + 50), now=house.now)) == 1


def test_one_trace_that_cannot_be_folded_keeps_no_other_waiting(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(store)
    house.send(*[one_span(trace, trace, T) for trace in range(1, 6)])
    bad = f"{3:032x}"
    fold = TraceFolding.fold

    def broken(self: TraceFolding, traces: Sequence[Touched], now: Nanos) -> dict[str, Nanos]:
        if any(trace.trace_id == bad for trace in traces):
            raise ZeroDivisionError
        return fold(self, traces, now)

    monkeypatch.setattr(TraceFolding, "fold", broken)
    house.later(600)
    house.fold()
    assert len(house.runs()) == 4
    assert set(house.touched.waiting) == {bad}
    monkeypatch.undo()
    house.later(3700)
    house.fold()
    assert len(house.runs()) == 5


def test_a_growing_trace_is_folded_no_more_often_than_its_size_allows(store: Store) -> None:
    house = House(store)
    whole = ExportTraceServiceRequest()
    for span in range(1, 10_001):
        whole.MergeFrom(one_span(1, span, T + span))
    house.send(whole)
    house.fold()
    first = house.runs()[f"{1:032x}"]
    assert first.spans == 10_000
    house.later(1)
    house.send(one_span(1, 10_001, T))
    house.fold()
    assert house.runs()[f"{1:032x}"].spans == 10_000, "not yet: 10,000 spans wait for two seconds"
    house.later(1)
    house.fold()
    assert house.runs()[f"{1:032x}"].spans == 10_001


def touched(trace: str) -> Touched:
    return Touched(trace_id=trace, generation=1, last_received=Nanos(1))


def test_lots_hold_a_bounded_number_of_spans_and_a_large_trace_is_alone() -> None:
    counts: Mapping[str, int] = {"a": 3, "b": 3, "c": 50, "d": 1}
    found = list(lots([touched(t) for t in "abcde"], dict(counts), 6))
    assert [[t.trace_id for t in lot] for lot in found] == [["a", "b"], ["c"], ["d", "e"]]


class Failing(ScriptedFolding):
    """A folding that does as it is told."""

    def __init__(self) -> None:
        self.broken = True
        self.folded = threading.Event()

    def span_counts(self, traces: Sequence[str]) -> dict[str, int]:
        if self.broken:
            raise StoreUnavailable("nobody there")
        return dict.fromkeys(traces, 1)

    def fold(self, traces: Sequence[Touched], now: Nanos) -> dict[str, Nanos]:
        self.folded.set()
        return {}


def test_an_absent_store_is_a_named_problem_until_it_is_back() -> None:
    folding, waiting = Failing(), MemoryTouched()
    waiting.touch({"a" * 32: Nanos(1)}, Nanos(1))
    rollup = RollUp(folding, waiting, clock=lambda: from_nanos(Nanos(10 * SECOND)))
    assert rollup.problem() == "not started"
    rollup.start()
    try:
        for _ in range(100):
            if rollup.problem() is not None:
                break
            threading.Event().wait(0.01)
        assert "nobody there" in str(rollup.problem())
        folding.broken = False
        assert folding.folded.wait(10)
    finally:
        rollup.stop(10)
    assert rollup.problem() is None
    assert waiting.waiting == {}


def test_the_mapping_has_a_name_that_changes_with_it() -> None:
    assert reading_of(Watched()) == reading_of(Watched())
    assert reading_of(Watched()) != reading_of(NAMED)
    assert to_nanos(from_nanos(Nanos(T))) == T
