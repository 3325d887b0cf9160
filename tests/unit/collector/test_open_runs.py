from collections.abc import Sequence
from dataclasses import replace

import pytest

from collector.folding import open_runs
from collector.folding.fold import Folded
from collector.folding.open_runs import OpenRuns
from collector.queue.port import Touched
from gnomon.clock import Nanos
from gnomon.model import Run, RunId, RunState

DUE = Nanos(100)


def run(name: str, *traces: str) -> Run:
    return Run(
        run_id=RunId(name), trace_ids=traces, root_span_id=None, started_at=Nanos(1),
        ended_at=Nanos(2), duration_ns=1, active_ns=1, last_received_at=Nanos(3),
    )  # fmt: skip


def touched(trace: str, generation: int = 1) -> Touched:
    return Touched(trace_id=trace, generation=generation, last_received=Nanos(3))


def remembering(*runs: Run, traces: Sequence[str]) -> OpenRuns:
    known = OpenRuns()
    folded = Folded(steps=(), runs=runs, again=dict.fromkeys(traces, DUE))
    known.remember([touched(trace) for trace in traces], folded, 7)
    return known


def test_a_run_of_which_nothing_came_is_settled_at_its_time() -> None:
    known = remembering(run("r", "a"), traces=["a"])
    assert known.take_quiet([touched("a")], Nanos(DUE - 1)) == {}
    waiting = known.take_quiet([touched("a")], DUE)["a"]
    assert waiting.run == replace(run("r", "a"), state=RunState.SETTLED, settled_at=DUE)
    assert waiting.folded_at == 7
    assert known.take_quiet([touched("a")], DUE) == {}, "once"


def test_a_trace_that_was_touched_since_must_be_read() -> None:
    known = remembering(run("r", "a"), traces=["a"])
    assert known.take_quiet([touched("a", generation=2)], DUE) == {}


def test_a_trace_folded_again_is_not_settled_from_what_it_was() -> None:
    known = remembering(run("r", "a"), traces=["a"])
    known.forget(["a", "unknown"])
    assert known.take_quiet([touched("a")], DUE) == {}


def test_runs_that_share_a_trace_or_span_several_must_be_read() -> None:
    shared = remembering(run("r", "a"), run("s", "a"), run("t", "b", "c"), traces=["a", "b", "c"])
    assert shared.take_quiet([touched(trace) for trace in "abc"], DUE) == {}


def test_the_oldest_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_runs, "MOST", 2)
    traces = ["a", "b", "c"]
    known = remembering(*(run(trace, trace) for trace in traces), traces=traces)
    assert set(known.take_quiet([touched(trace) for trace in traces], DUE)) == {"b", "c"}
