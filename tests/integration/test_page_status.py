"""The Status page: what is dear to count is counted when it changed, and rests."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from collector.queue.port import Rereading
from gnomon.clock import Nanos
from gnomon.model import RunState
from gnomon.web.cache import REST
from gnomon.web.work import Standing
from scoring.metrics.reader import MetricReader
from tests import desk, judged_desk, site
from tests import page_memory as memory
from tests.judged_desk import GRADERS, Rows, World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with judged_desk.judged_desk(tmp_path_factory.mktemp("status"), count=60) as made:
        yield made


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (Rereading(traces=0), ""),
        (
            Rereading(traces=2_400, until=Nanos(desk.NOW + 90 * desk.SECOND)),
            "; 2,400 traces of history still to be read again, about 1 m 30 s left",
        ),
        (
            Rereading(traces=1, until=desk.NOW),
            "; 1 trace of history still to be read again",
        ),
    ],
)
def test_history_that_is_read_again_is_counted_with_the_time_left(
    left: Rereading, words: str
) -> None:
    made = site.site(memory.MemoryReader(), desk.books(), history=left)
    seen = " ".join(site.page(made, "/status").words.split())
    assert f"is read into its run{words} " in seen


@dataclass
class Counting:
    """Notes how often graders are counted, which takes a second."""

    metrics: MetricReader
    times: int = 0
    seconds: float = 0.0

    def __getattr__(self, name: str) -> Any:
        if name == "graders":
            self.times += 1
            self.seconds += 1
        return getattr(self.metrics, name)


def watched(world: World) -> Counting:
    return Counting(world.judging.metrics)


def test_a_poll_with_nothing_new_counts_nothing(world: World) -> None:
    counting = watched(world)
    made = site.site(world.reader, desk.books(), replace(world.judging, metrics=counting))  # type: ignore[arg-type]
    headers = {**site.PARTIAL, "HX-Target": "work"}
    first = made.client.get("/status", headers=headers)
    assert (first.status_code, counting.times) == (200, 1)
    headers["If-None-Match"] = first.headers["etag"]
    again = [made.client.get("/status", headers=headers) for _ in range(3)]
    assert [(one.status_code, one.content) for one in again] == [(304, b"")] * 3
    assert counting.times == 1


def test_a_new_verdict_is_counted_once_the_last_count_has_rested(world: World) -> None:
    counting = watched(world)
    judging = replace(world.judging, metrics=counting)  # type: ignore[arg-type]
    standing = Standing(judging, lambda: counting.seconds)
    outcome = GRADERS[1]

    def graded() -> int:
        lines = standing.at(desk.NOW).graders
        return next(line.counts[0].runs for line in lines if line.name == outcome.name)

    before = graded()
    unjudged = next(run for run in world.runs if run.state is RunState.SETTLED)
    rows = Rows()
    rows.judge(unjudged, outcome, passed=True)
    rows.write(world.store)
    rows.sum_up(world.store, world.reader, [unjudged])
    assert (graded(), counting.times) == (before, 1), "it rests"
    counting.seconds += REST + 1
    assert (graded(), counting.times) == (before + 1, 2)
    counting.seconds += REST + 1
    assert (graded(), counting.times) == (before + 1, 2), "nothing is new"
