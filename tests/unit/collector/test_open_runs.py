from collections.abc import Sequence

import pytest

from collector.folding import open_runs
from collector.folding.messages import Quiet
from collector.folding.open_runs import OpenRuns
from collector.queue.port import Touched
from gnomon.clock import Nanos

DUE = Nanos(100)


def touched(trace: str, generation: int = 1) -> Touched:
    return Touched(trace_id=trace, generation=generation, last_received=Nanos(3))


def remembering(traces: Sequence[str]) -> OpenRuns:
    known = OpenRuns()
    quiet = [Quiet(trace_id=trace, due=DUE, row=trace.encode()) for trace in traces]
    known.remember([touched(trace) for trace in traces], quiet, 7)
    return known


def test_a_run_of_which_nothing_came_is_settled_at_its_time() -> None:
    known = remembering(["a"])
    assert known.take_quiet([touched("a")], Nanos(DUE - 1)) == {}
    waiting = known.take_quiet([touched("a")], DUE)["a"]
    assert (waiting.row, waiting.folded_at) == (b"a", 7)
    assert known.take_quiet([touched("a")], DUE) == {}, "once"


def test_a_trace_that_was_touched_since_must_be_read() -> None:
    known = remembering(["a"])
    assert known.take_quiet([touched("a", generation=2)], DUE) == {}


def test_a_trace_folded_again_is_not_settled_from_what_it_was() -> None:
    known = remembering(["a"])
    known.forget(["a", "unknown"])
    assert known.take_quiet([touched("a")], DUE) == {}


def test_the_oldest_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_runs, "MOST", 2)
    known = remembering(["a", "b", "c"])
    assert set(known.take_quiet([touched(trace) for trace in "abc"], DUE)) == {"b", "c"}
