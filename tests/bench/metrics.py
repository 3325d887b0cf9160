"""How long the metrics of 100,000 runs of 12 weeks take, once the store has them, and the first page."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from collector.store import Reader
from collector.views import RunFilter, RunPosition
from gnomon.config import Settings
from gnomon.store import Store, open_store
from gnomon.store.migrate import apply, shipped
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Scope
from scoring.metrics.watched import MetricsWatched
from scoring.store import JudgmentReader, JudgmentWriter
from scoring.verdicts import JudgedRun, Verdicts
from scoring.versions.reader import CompareReader
from tests.bench.figures import Figure, load_average, say

RUNS = 100_000
GOALS = {
    "all metrics": 2.0,
    "by week": 2.0,
    "by version": 2.0,
    "surfaces": 2.0,
    "first page": 0.5,
}
"""Seconds on two cores."""
_DAY = 86_400 * 10**9
_AT = "toDateTime64('2026-01-05 00:00:00', 9, 'UTC') + toIntervalSecond(number * 72)"
_GRADERS = (("state", "outcome", 7), ("refunds", "policy", 11), ("claim", "factuality", 13))


def run(*, quick: bool) -> list[Figure]:
    """Fill a store with judged runs and ask for what pages ask."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Settings(data=Path(folder)))
        try:
            apply(store, shipped())
            asked = understood(store)
            fill(store, RUNS // 10 if quick else RUNS)
            return [asked, summed(store), *measured(store)]
        finally:
            store.close()


def understood(store: Store) -> Figure:
    """Ask where nothing is stored: what is left is reading the statements."""
    reader = MetricReader(store, MetricsWatched(slices={"topic": "topic"}))
    _, cpu = best(lambda: reader.metrics(Scope(agent="desk")))
    say(f"all metrics of an empty store: {cpu:.2f} s of CPU ({load_average()})")
    return Figure(name="metrics, nothing stored: all metrics", value=cpu, unit="s of CPU", below=None)  # fmt: skip


def measured(store: Store) -> list[Figure]:
    """Time each question: the shorter of three, since the machine does other things too."""
    scope = Scope(agent="desk")
    figures = []
    for unit, cluster_by in (("runs", None), ("customers", "customer_id")):
        watched = MetricsWatched(slices={"topic": "topic"}, cluster_by=cluster_by)
        reader = MetricReader(store, watched)
        compare = CompareReader(store, reader)
        questions: dict[str, Callable[[], object]] = {
            "all metrics": lambda r=reader: r.metrics(scope),
            "by week": lambda r=reader: r.metrics(scope, by="week"),
            "by version": lambda r=reader: r.metrics(scope, by="version"),
            "surfaces": lambda r=reader: r.surfaces(scope),
            "first page": lambda r=reader: first_page(r, scope),
            "compare live": lambda c=compare: c.live(scope, base="a", cand="b"),
            "compare tasks": lambda c=compare: c.on_tasks(scope, base="a", cand="b"),
        }
        for name, ask in questions.items():
            wall, cpu = best(ask)
            say(f"units {unit}: {name}: {wall:.2f} s, {cpu:.2f} s of CPU ({load_average()})")
            goal = GOALS.get(name)
            figures.append(
                Figure(
                    name=f"metrics, units {unit}: {name}", value=cpu, unit="s of CPU", below=goal
                )
            )
    return figures


def first_page(reader: MetricReader, scope: Scope) -> None:
    """Ask what the judged half of the Overview of 90 days asks, nothing of it kept before."""
    reader.pulse(scope)
    reader.pulse(scope, by="version")
    reader.beats(scope, width_ns=_DAY)
    reader.ruled(scope)


def summed(store: Store) -> Figure:
    """Make the verdict of every run of its judgments, as the job does for history."""
    began = time.process_time()
    runs = sum_up(store)
    seconds = time.process_time() - began
    say(f"verdicts of {runs:,} runs: {seconds:.0f} s of CPU")
    return Figure(name="verdicts made of history", value=seconds / runs * 1e5, unit="s of CPU a 100,000 runs", below=None)  # fmt: skip


def sum_up(store: Store) -> int:
    """Walk all runs; return how many there are."""
    reader, stored = Reader(store), JudgmentReader(store)
    verdicts = Verdicts(stored, JudgmentWriter(store))
    after: RunPosition | None = None
    done = 0
    while page := reader.runs(RunFilter(), limit=500, after=after):
        for start in range(0, len(page), 200):
            lot = page[start : start + 200]
            steps = reader.counted_steps(lot)
            verdicts.keep(
                [JudgedRun(run=r, steps=steps[r.run_id], judged=(), first=False) for r in lot],
                at=page[0].started_at,
            )
        done += len(page)
        after = RunPosition(page[-1].started_at, page[-1].run_id)
    return done


def best(ask: Callable[[], object]) -> tuple[float, float]:
    """Return the least wall and CPU seconds of three."""
    found = []
    for _ in range(3):
        began, used = time.perf_counter(), time.process_time()
        ask()
        found.append((time.perf_counter() - began, time.process_time() - used))
    return min(wall for wall, _ in found), min(cpu for _, cpu in found)


def fill(store: Store, runs: int) -> None:
    """Write runs of two versions and 5,000 customers, ten steps and three graders each."""
    store.command(
        f"""INSERT INTO runs (run_id, trace_ids, agent_name, agent_version, business_keys, started_at,
            ended_at, duration_ns, state, settled_at, revision, complete, status, steps, llm_calls,
            tool_calls, input_tokens, output_tokens, usage_source, cost_usd, origin, folded_at, is_deleted)
        SELECT lower(hex(cityHash64(number))) || lower(hex(number)) AS id, [id], 'desk',
            if(number % 3 = 0, 'a', 'b'), map('customer_id', toString(cityHash64(number) % 5000),
            'topic', toString(number % 4), 'task_id', toString(number % 2000)), {_AT}, {_AT},
            1000000000 + cityHash64(number) % 90000000000, 'settled', {_AT}, 1, 1,
            if(number % 17 = 0, 'error', 'ok'), 10, 5, 4, 1000, 100, 'model_steps', 0.01,
            'production', 1, 0
        FROM numbers({runs})""",
        tag="bench.fill",
    )
    store.command(
        """INSERT INTO steps (run_id, trace_id, span_id, started_at, ended_at, duration_ns, kind,
            counted, status, input_tokens, output_tokens, tool_name, tool_arguments, origin, folded_at,
            is_deleted)
        SELECT run_id, trace_ids[1], toString(k), started_at, started_at, 1000,
            if(k % 2 = 0, 'llm', 'tool'), 1, 'ok', if(k % 2 = 0, 100, NULL), if(k % 2 = 0, 10, NULL),
            if(k % 2 = 0, NULL, 'refund'), if(k % 2 = 0, NULL, toString(k % 4)), 'production', 1, 0
        FROM runs ARRAY JOIN range(10) AS k""",
        tag="bench.fill",
    )
    common = "started_at, run_id, revision, agent_name, agent_version, origin"
    for grader, surface, often in _GRADERS:
        claimed = "true" if grader == "claim" else "NULL"
        store.command(
            f"""INSERT INTO labels ({common}, grader, grader_version, surface, kind, passed, claimed, at)
            SELECT {common}, '{grader}', '1', '{surface}', 'code', cityHash64(run_id) % {often} != 0,
                {claimed}, started_at
            FROM runs""",
            tag="bench.fill",
        )
        store.command(
            f"""INSERT INTO grader_status ({common}, grader, grader_version, surface, kind, state,
                violations, at)
            SELECT {common}, '{grader}', '1', '{surface}', 'code', 'graded', 0, started_at FROM runs""",
            tag="bench.fill",
        )


if __name__ == "__main__":
    for figure in run(quick=False):
        say(f"{figure.name}: {figure.shown} {figure.goal}")
