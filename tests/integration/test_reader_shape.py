"""What is asked of all steps of a run at once, in both engines."""

from dataclasses import replace

import pytest

from collector.store import Reader
from collector.views import Earlier, Facet, RunFilter, RunPosition, shape_of, told_by
from gnomon.clock import Nanos
from gnomon.model import Kind, Run, RunId, RunStatus, SpanId, Step, TraceId
from gnomon.store import Store
from tests.row_writer import RowWriter

START = 490_000 * 3_600_000_000_000
TRACES = ("t" * 32, "u" * 32)


def step(number: int, **values: object) -> Step:
    at = Nanos(START + number)
    given: dict[str, object] = {
        "run_id": RunId("run"),
        "trace_id": TraceId(TRACES[0]),
        "span_id": SpanId(f"{number:016x}"),
        "started_at": at,
        "ended_at": Nanos(at + 10),
        "duration_ns": 10,
        **values,
    }
    return Step(**given)  # type: ignore[arg-type]


def run(number: int = 1, **values: object) -> Run:
    at = Nanos(START + number)
    given: dict[str, object] = {
        "run_id": RunId("run"),
        "trace_ids": TRACES,
        "root_span_id": None,
        "started_at": at,
        "ended_at": at,
        "duration_ns": 0,
        "active_ns": 0,
        "last_received_at": at,
        **values,
    }
    return Run(**given)  # type: ignore[arg-type]


STEPS = [
    step(1, kind=Kind.AGENT, scope_name="crew", scope_version="1.2", flags=("orphan",)),
    step(3, parent_span_id=f"{1:016x}", kind=Kind.LLM, counted=True, input_tokens=0, streamed=True),
    step(2, parent_span_id=f"{1:016x}", kind=Kind.TOOL, counted=True, status="error"),
    step(4, trace_id=TraceId(TRACES[1]), kind=Kind.LLM, duplicate_of=f"{3:016x}"),
    step(5, kind=Kind.LLM, counted=True, input_tokens=7, streamed=True),
]


def test_the_shape_of_a_run_is_that_of_its_outline(store: Store) -> None:
    RowWriter(store).steps([*STEPS, step(6, run_id=RunId("other"))], folded_at=1)
    reader = Reader(store)
    shape, plain = reader.shape(run()), shape_of(reader.outline(run()))
    assert replace(shape, told=()) == replace(plain, told=())
    assert set(shape.told) == set(plain.told)
    assert shape.span_ids == [f"{n:016x}" for n in (1, 2, 3, 4, 5)]
    assert shape.failed == [False, True, False, False, False]
    assert shape.doubled == [False, False, False, True, False]
    assert shape.trace_ids == [TRACES[0]] * 3 + [TRACES[1], TRACES[0]]


def test_what_steps_tell_is_told_once_for_each_difference(store: Store) -> None:
    RowWriter(store).steps(STEPS, folded_at=1)
    told = Reader(store).told(run())
    assert len(told) == 4  # both counted model calls tell the same
    assert set(told) == set(told_by(STEPS))
    nothing = Reader(store).shape(run(run_id=RunId("nobody")))
    assert (nothing.span_ids, nothing.told) == ([], [])


def test_some_steps_of_a_run_are_outlined_by_their_ids(store: Store) -> None:
    RowWriter(store).steps(STEPS, folded_at=1)
    wanted = [(TRACES[1], f"{4:016x}"), (TRACES[0], f"{2:016x}"), (TRACES[0], "gone")]
    found = Reader(store).outline(run(), wanted)
    assert [line.span_id for line in found] == [f"{n:016x}" for n in (2, 4)]


def test_a_call_is_compared_with_the_last_one_of_its_kind_before_it(store: Store) -> None:
    mine, other = ("desk",), ("desk", "helper")
    call = {"kind": Kind.LLM, "counted": True}
    tool = {"kind": Kind.TOOL, "counted": True, "tool_name": "refund", "tool_arguments": "{}"}
    steps = [
        step(1, **call, agent_path=mine),
        step(2, **call, agent_path=other),
        step(3, kind=Kind.LLM, agent_path=mine),  # not counted
        step(4, **call, agent_path=mine),
        step(5, **tool),
        step(6, **{**tool, "tool_name": "search"}),
        step(7, **tool, status="error"),
        step(8, **tool),
    ]
    RowWriter(store).steps(steps, folded_at=1)
    reader = Reader(store)

    def before(number: int) -> Earlier | None:
        return reader.call_before(run(), steps[number - 1])

    first = before(4)
    assert first is not None
    assert (first.span_id, first.kind, first.tool_arguments) == (f"{1:016x}", Kind.LLM, None)
    assert (before(1), before(2), before(5)) == (None, None, None)
    last = before(8)
    assert last is not None
    assert (last.span_id, last.tool_arguments) == (f"{5:016x}", "{}")


def test_a_run_stands_where_it_was_written_last(store: Store) -> None:
    writer = RowWriter(store)
    writer.runs([run(5)], reading="", folded_at=1)
    writer.runs([run(3)], reading="", folded_at=2)  # a crash left the old place behind
    reader = Reader(store)
    standing = reader.standing("run")
    assert standing is not None
    assert (standing.started_at, list(standing.trace_ids)) == (START + 3, list(TRACES))
    found = reader.run("run")
    assert found is not None
    assert found.started_at == START + 3
    assert (reader.standing("nobody"), reader.run("nobody")) == (None, None)


def test_positions_are_those_of_the_listed_runs(store: Store) -> None:
    runs = [run(n, run_id=RunId(f"r{n}")) for n in range(1, 6)]
    RowWriter(store).runs(runs, reading="", folded_at=1)
    reader = Reader(store)
    for after, newer in ((None, False), (RunPosition(Nanos(START + 3), "r3"), True)):
        listed = reader.runs(RunFilter(), limit=9, after=after, newer=newer)
        found = reader.positions(RunFilter(), limit=9, after=after, newer=newer)
        assert found == [RunPosition(one.started_at, one.run_id) for one in listed]
        assert found


def test_a_text_is_looked_for_once_and_its_runs_found_again_by_their_places(store: Store) -> None:
    writer = RowWriter(store)
    runs = [run(n, run_id=RunId(f"r{n}"), input="pay" if n % 2 else "ask") for n in range(1, 7)]
    writer.runs(runs, reading="", folded_at=1)
    changed = replace(runs[0], input="nothing of it")
    writer.runs([changed], reading="", folded_at=2)
    reader = Reader(store)
    where = RunFilter(text="PAY", until=Nanos(START + 6))
    narrowed = reader.narrowed(where)
    assert narrowed.text is None
    assert narrowed.places is not None
    assert [one.run_id for one in reader.runs(where, limit=9)] == ["r5", "r3"]
    for limit, after, newer in (
        (9, None, False),
        (1, None, False),
        (9, RunPosition(Nanos(START + 5), "r5"), False),
        (1, RunPosition(Nanos(START + 1), "r1"), True),
    ):
        same = [
            reader.positions(one, limit=limit, after=after, newer=newer)
            for one in (where, narrowed)
        ]
        assert same[0] == same[1]
    assert reader.counts(narrowed, width_ns=100) == reader.counts(where, width_ns=100)
    assert reader.facets(narrowed, limit=9) == reader.facets(where, limit=9)
    assert reader.narrowed(RunFilter()) == RunFilter()
    absent = reader.narrowed(RunFilter(text="zebra"))
    assert (absent.places, reader.runs(absent, limit=9), reader.count(absent)) == ([], [], 0)


def test_a_text_of_very_many_runs_stays_a_text(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector.reading.runs._FEW", 2)
    runs = [run(n, run_id=RunId(f"r{n}"), input="pay") for n in range(1, 5)]
    RowWriter(store).runs(runs, reading="", folded_at=1)
    where = RunFilter(text="pay")
    assert Reader(store).narrowed(where) == where


def test_counts_say_how_runs_ended_and_facets_leave_out_their_own_condition(store: Store) -> None:
    runs = [
        run(1, run_id=RunId("a"), status=RunStatus.ERROR, agent_name="desk", tools=("t", "u")),
        run(2, run_id=RunId("b"), status=RunStatus.OK, agent_name="desk", tools=("t",)),
        run(3, run_id=RunId("c"), status=RunStatus.OK, agent_name="code", error_types=("E",)),
        run(150, run_id=RunId("d"), status=RunStatus.UNKNOWN),
    ]
    RowWriter(store).runs(runs, reading="", folded_at=1)
    reader = Reader(store)
    found = reader.counts(RunFilter(), width_ns=100)
    assert [(one.start - START, one.runs, one.errors, one.unknown, one.open) for one in found] == [
        (0, 3, 1, 0, 3),
        (100, 1, 0, 1, 1),
    ]

    def facet(name: Facet, where: RunFilter) -> dict[str, int]:
        return {one.value: one.runs for one in reader.facets(where, limit=9)[name]}

    where = RunFilter(status=RunStatus.OK, agent="desk")
    assert facet("status", where) == {"error": 1, "ok": 1}
    assert facet("agent", where) == {"code": 1, "desk": 1}
    assert facet("tool", where) == {"t": 1}
    assert facet("error_type", RunFilter(error_type="E")) == {"E": 1}
    assert facet("agent", RunFilter(error_type="E")) == {"code": 1}
