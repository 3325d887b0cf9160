"""Readers of runs and books that answer from memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace

from collector.queue.port import DeadLetter, LedgerRow, Rereading, Touched
from collector.spans import LogRecord, Span
from collector.views import (
    FACETS,
    Deploy,
    Earlier,
    Facet,
    FacetCount,
    Outline,
    RunBucket,
    RunFigures,
    RunFilter,
    RunPosition,
    Shape,
    shape_of,
)
from gnomon.clock import Nanos
from gnomon.errors import NotFound
from gnomon.model import Bodies, Kind, Run, RunId, RunState, RunStatus, Step

_END = 2**63


class MemoryReader:
    """Satisfies PageReader from lists."""

    def __init__(self) -> None:
        self.all: list[Run] = []
        self.steps: dict[str, list[Step]] = {}
        self.said: dict[tuple[str, str], Bodies] = {}
        self.raw: dict[tuple[str, str], Span] = {}
        self.revision = 0
        self.failure: Exception | None = None

    def add(self, run: Run, steps: Sequence[Step] = ()) -> None:
        self.all.append(run)
        self.all.sort(key=lambda one: (one.started_at, one.run_id), reverse=True)
        self.steps[run.run_id] = list(steps)
        self.revision += 1

    def runs(
        self,
        where: RunFilter,
        *,
        limit: int,
        after: RunPosition | None = None,
        newer: bool = False,
    ) -> list[Run]:
        found = self._found(where)
        if after is None:
            return found[:limit]
        if newer:
            return [run for run in found if (run.started_at, run.run_id) > after][-limit:]
        return [run for run in found if (run.started_at, run.run_id) < after][:limit]

    def beginning(self, prefix: str, *, limit: int) -> list[RunPosition]:
        found = [run for run in self.all if run.run_id.startswith(prefix)]
        return [RunPosition(run.started_at, run.run_id) for run in found[:limit]]

    def count(self, where: RunFilter) -> int:
        return len(self._found(where))

    def facets(self, where: RunFilter, *, limit: int) -> Mapping[Facet, Sequence[FacetCount]]:
        answer: dict[Facet, Sequence[FacetCount]] = {}
        for facet in FACETS:
            counts: dict[str, int] = {}
            for run in self._found(replace(where, **{facet: None})):
                for value in _VALUES[facet](run):
                    counts[value] = counts.get(value, 0) + 1
            ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            answer[facet] = [FacetCount(value=value, runs=n) for value, n in ordered[:limit]]
        return answer

    def positions(
        self,
        where: RunFilter,
        *,
        limit: int,
        after: RunPosition | None = None,
        newer: bool = False,
    ) -> list[RunPosition]:
        found = self.runs(where, limit=limit, after=after, newer=newer)
        return [RunPosition(run.started_at, run.run_id) for run in found]

    def figures(self, where: RunFilter, *, width_ns: int, versions: int) -> RunFigures:
        groups: dict[tuple[str, str], list[Run]] = {}
        for run in self._found(where):
            groups.setdefault((run.agent_name or "", run.agent_version or ""), []).append(run)
        named = [
            replace(bucket(0, runs), agent=agent, version=version)
            for (agent, version), runs in sorted(groups.items())
            if version
        ]
        return RunFigures(
            total=self.totals(where),
            points=self.counts(where, width_ns=width_ns),
            versions=sorted(named, key=lambda one: -one.runs)[:versions],
        )

    def counts(self, where: RunFilter, *, width_ns: int) -> list[RunBucket]:
        groups: dict[int, list[Run]] = {}
        for run in self._found(where):
            groups.setdefault(run.started_at // width_ns * width_ns, []).append(run)
        return [bucket(start, runs) for start, runs in sorted(groups.items())]

    def narrowed(self, where: RunFilter) -> RunFilter:
        return where

    def totals(self, where: RunFilter) -> RunBucket:
        return bucket(where.since or 0, self._found(where))

    def deploys(self, where: RunFilter) -> list[Deploy]:
        first: dict[tuple[str, str], int] = {}
        for run in self.all:
            if run.agent_name and run.agent_version:
                first[(run.agent_name, run.agent_version)] = run.started_at
        return [
            Deploy(agent=agent, version=version, at=Nanos(at))
            for (agent, version), at in sorted(first.items(), key=lambda item: item[1])
            if (where.since or 0) <= at < (where.until or _END) and where.agent in (None, agent)
        ]

    def run(self, run_id: str) -> Run | None:
        self._answer()
        return next((run for run in self.all if run.run_id == run_id), None)

    def outline(self, run: Run, only: Sequence[tuple[str, str]] | None = None) -> list[Outline]:
        return [
            outline_of(step)
            for step in self.steps[run.run_id]
            if only is None or (step.trace_id, step.span_id) in only
        ]

    def shape(self, run: Run) -> Shape:
        return shape_of(self.outline(run))

    def call_before(self, run: Run, step: Step) -> Earlier | None:
        def at(one: Step) -> tuple[int, str, str]:
            return one.started_at, one.span_id, one.trace_id

        def same(one: Step) -> bool:
            if step.kind is Kind.LLM:
                return tuple(one.agent_path) == tuple(step.agent_path)
            return one.tool_name == step.tool_name and one.status == "ok"

        before = [
            one
            for one in self.steps[run.run_id]
            if one.counted and one.kind is step.kind and at(one) < at(step) and same(one)
        ]
        if not before:
            return None
        last = max(before, key=at)
        return Earlier(
            trace_id=last.trace_id,
            span_id=last.span_id,
            kind=last.kind,
            tool_arguments=last.tool_arguments,
        )

    def step(self, trace_id: str, span_id: str) -> Step | None:
        every = (step for steps in self.steps.values() for step in steps)
        return next((s for s in every if (s.trace_id, s.span_id) == (trace_id, span_id)), None)

    def counted_steps(self, runs: Sequence[Run]) -> dict[RunId, list[Step]]:
        return {run.run_id: [s for s in self.steps[run.run_id] if s.counted] for run in runs}

    def bodies_of(self, steps: Sequence[Step | Earlier]) -> list[Bodies]:
        return [self.said.get((step.trace_id, step.span_id), Bodies()) for step in steps]

    def span(self, trace_id: str, span_id: str) -> Span | None:
        return self.raw.get((trace_id, span_id))

    def span_logs(self, trace_id: str, span_id: str) -> list[LogRecord]:
        return []

    def data_version(self) -> str:
        self._answer()
        return str(self.revision)

    def _answer(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _found(self, where: RunFilter) -> list[Run]:
        self._answer()
        return [run for run in self.all if _fits(run, where)]


_VALUES: Mapping[Facet, Callable[[Run], Sequence[str]]] = {
    "status": lambda run: [str(run.status)],
    "agent": lambda run: [run.agent_name or ""],
    "version": lambda run: [run.agent_version or ""],
    "error_type": lambda run: run.error_types,
    "model": lambda run: run.models,
    "tool": lambda run: run.tools,
    "environment": lambda run: [run.environment],
}


def _fits(run: Run, where: RunFilter) -> bool:
    if not (where.since or 0) <= run.started_at < (where.until or _END):
        return False
    for facet in FACETS:
        asked = getattr(where, facet)
        if asked is not None and asked not in _VALUES[facet](run):
            return False
    if where.conversation_id not in (None, run.conversation_id):
        return False
    if any(run.business_keys.get(key) != value for key, value in where.business_keys.items()):
        return False
    words = " ".join([run.run_id, run.input or "", run.output or "", *run.business_keys.values()])
    return (where.text or "").lower() in words.lower()


def bucket(start: int, runs: Sequence[Run]) -> RunBucket:
    times = sorted(run.duration_ns for run in runs if run.state is RunState.SETTLED)
    costs = [run.cost_usd for run in runs if run.cost_usd is not None]

    def total(name: str) -> int | None:
        known = [getattr(run, name) for run in runs if getattr(run, name) is not None]
        return sum(known) if known else None

    return RunBucket(
        start=Nanos(start),
        runs=len(runs),
        errors=sum(run.status is RunStatus.ERROR for run in runs),
        unknown=sum(run.status is RunStatus.UNKNOWN for run in runs),
        open=sum(run.state is RunState.OPEN for run in runs),
        p50_ns=times[-(-len(times) // 2) - 1] if times else None,
        p95_ns=times[-(-len(times) * 19 // 20) - 1] if times else None,
        cost_usd=sum(costs) if costs else None,
        costed=len(costs),
        tokened=sum(run.input_tokens is not None or run.output_tokens is not None for run in runs),
        unpriced_calls=sum(run.unpriced_calls for run in runs),
        input_tokens=total("input_tokens"),
        cached_tokens=total("cached_tokens"),
        output_tokens=total("output_tokens"),
    )


def outline_of(step: Step) -> Outline:
    return Outline(**{field.name: getattr(step, field.name) for field in fields(Outline)})


class MemoryBooks:
    """Satisfies Books from lists."""

    def __init__(self) -> None:
        self.rows: list[LedgerRow] = []
        self.letters: dict[int, tuple[DeadLetter, bytes]] = {}
        self.pending: Nanos | None = None
        self.resent: list[int] = []
        self.dropped: list[int] = []

    def ledger(self, since: Nanos, until: Nanos) -> list[LedgerRow]:
        found = [row for row in self.rows if since <= row.hour < until]
        return sorted(found, key=lambda row: (-row.hour, row.source))

    def oldest_pending(self) -> Nanos | None:
        return self.pending

    def dead_letters(self, *, after: int = 0, limit: int = 50) -> list[DeadLetter]:
        return [one for number, (one, _) in sorted(self.letters.items()) if number > after][:limit]

    def dead_letter(self, letter: int) -> tuple[DeadLetter, bytes]:
        if letter not in self.letters:
            raise NotFound(f"no dead letter {letter}")
        return self.letters[letter]

    def resend(self, letter: int) -> None:
        self.dead_letter(letter)
        self.resent.append(letter)
        del self.letters[letter]

    def drop(self, letter: int) -> None:
        self.dead_letter(letter)
        self.dropped.append(letter)
        del self.letters[letter]


class NothingTouched:
    """Satisfies TouchedTraces: every trace is read, but what of history is read again."""

    def __init__(self, history: Rereading | None = None) -> None:
        self._history = history or Rereading(traces=0)

    def due(self, now: Nanos, limit: int) -> list[Touched]:
        return []

    def folded(self, traces: Sequence[Touched], again: Mapping[str, Nanos]) -> None: ...

    def touch(self, traces: Mapping[str, Nanos], now: Nanos) -> None: ...

    def wake(self, now: Nanos) -> None: ...

    def rereading(self) -> Rereading:
        return self._history
