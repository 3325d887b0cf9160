"""Traces that changed: due at once, forgotten when folded, never lost."""

from collector.queue.entries import HOUR
from collector.queue.port import Rereading
from gnomon.clock import Nanos
from tests.spools import NOW, SECOND, TRACE_A, TRACE_B, everything, request


def test_stored_traces_are_due_at_once_and_forgotten_when_folded(spool):
    spool.put(request("a", traces=(TRACE_A,), at=NOW - SECOND)).result(5)
    spool.put(request("b", traces=(TRACE_A, TRACE_B), at=NOW)).result(5)
    assert spool.touched.due(NOW, 10) == []
    spool.stored(everything(spool))
    due = spool.touched.due(NOW, 10)
    assert {t.trace_id: (t.first_received, t.last_received) for t in due} == {
        TRACE_A: (NOW - SECOND, NOW),
        TRACE_B: (NOW, NOW),
    }
    spool.touched.folded(due, {})
    assert spool.touched.due(Nanos(NOW + HOUR), 10) == []


def test_history_that_is_still_to_be_read_again_is_counted_apart_from_what_came(spool):
    spool.put(request("a", traces=(TRACE_A,), at=NOW)).result(5)
    spool.stored(everything(spool))
    assert spool.touched.rereading() == Rereading(traces=0)
    old = "0" * 31 + "7"
    spool.touched.touch({TRACE_B: Nanos(NOW - HOUR)}, NOW)
    spool.touched.touch({old: Nanos(NOW - HOUR)}, Nanos(NOW + SECOND))
    assert spool.touched.rereading() == Rereading(traces=2, until=Nanos(NOW + SECOND))
    read = [trace for trace in spool.touched.due(NOW, 10) if trace.trace_id == TRACE_B]
    spool.touched.folded(read, {})
    assert spool.touched.rereading() == Rereading(traces=1, until=Nanos(NOW + SECOND))


def test_a_folded_trace_comes_back_at_its_time(spool):
    spool.touched.touch({TRACE_A: NOW}, NOW)
    spool.touched.folded(spool.touched.due(NOW, 10), {TRACE_A: Nanos(NOW + 5 * SECOND)})
    assert spool.touched.due(Nanos(NOW + 4 * SECOND), 10) == []
    (back,) = spool.touched.due(Nanos(NOW + 5 * SECOND), 10)
    assert (back.trace_id, back.last_received) == (TRACE_A, NOW)
    assert spool.touched.waiting() == 1


def test_what_comes_while_a_trace_is_folded_is_not_forgotten(spool):
    spool.put(request("a", traces=(TRACE_A,))).result(5)
    spool.stored(everything(spool))
    taken = spool.touched.due(NOW, 10)
    spool.put(request("b", traces=(TRACE_A,))).result(5)
    spool.stored(everything(spool))
    spool.touched.folded(taken, {TRACE_A: Nanos(NOW + HOUR)})
    (again,) = spool.touched.due(NOW, 10)
    assert again.generation > taken[0].generation


def test_a_trace_that_waits_to_settle_is_due_at_once_when_something_comes(spool):
    spool.touched.touch({TRACE_A: NOW}, NOW)
    spool.touched.folded(spool.touched.due(NOW, 10), {TRACE_A: Nanos(NOW + HOUR)})
    spool.put(request("late", traces=(TRACE_A,))).result(5)
    spool.stored(everything(spool))
    assert [t.trace_id for t in spool.touched.due(NOW, 10)] == [TRACE_A]


def test_traces_that_wait_longest_come_first(spool, clock):
    spool.touched.touch({TRACE_B: NOW}, NOW)
    spool.touched.touch({TRACE_A: NOW}, Nanos(NOW + 1))
    due = spool.touched.due(Nanos(NOW + 1), 10)
    assert [t.trace_id for t in due] == [TRACE_B, TRACE_A]
    assert [t.trace_id for t in spool.touched.due(Nanos(NOW + 1), 1)] == [TRACE_B]


def test_what_waits_for_its_time_can_be_woken(spool):
    spool.touched.touch({TRACE_A: NOW}, NOW)
    spool.touched.folded(spool.touched.due(NOW, 10), {TRACE_A: Nanos(NOW + HOUR)})
    spool.touched.wake(NOW)
    assert [trace.trace_id for trace in spool.touched.due(NOW, 10)] == [TRACE_A]
