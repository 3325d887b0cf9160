"""Runs and what was judged of them, written by hand: the truth that metrics must tell."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from gnomon.clock import Nanos
from gnomon.model import Kind, Run, RunId, RunState, RunStatus, SpanId, Step, TraceId
from gnomon.store import Store
from scoring.acts import acts_of
from scoring.grading.port import GraderKind, State, Surface
from scoring.policies.verdict import Held
from scoring.reading import RunJudgments
from scoring.rows import LabelRow, StatusRow, ViolationRow, held_columns
from scoring.verdict import verdict_row
from scoring.versions.force import Force
from scoring.versions.rule import Plan
from scoring.versions.store import RuleBook
from tests.row_writer import RowWriter

SECOND = 1_000_000_000
DAY = 86_400 * SECOND
MONDAY = Nanos(2_000 * 7 * DAY + 4 * DAY)
"""1970-01-01 was a Thursday."""

BEFORE = Nanos(MONDAY - DAY)
"""When nobody had run yet."""

Said = tuple[list[StatusRow], list[LabelRow], list[ViolationRow]]


def seen_first(store: Store, plan: Plan | None) -> None:
    """Note a rule as a process does that started before anybody ran."""
    assert plan is not None
    book = RuleBook(store)
    rule = plan.rule.canonical()
    place = 1 + len(book.log())
    book.note(Force(place=place, digest=plan.digest, at=BEFORE, text=plan.text, rule=rule))


class _Asked:
    """A store that is asked: first it is given what was put down before."""

    def __init__(self, store: Store, write: Callable[[], None]) -> None:
        self._store = store
        self._write = write

    def __getattr__(self, name: str) -> Any:
        self._write()
        return getattr(self._store, name)


class World:
    """Runs and what was judged of them; written together when the store is asked next."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.store = cast("Store", _Asked(store, self.write))
        self._runs: list[tuple[Run, int]] = []
        self._steps: list[Step] = []
        self._rows: dict[str, list[Any]] = {}
        self.number = 0
        self.runs: dict[str, Run] = {}
        self.steps: dict[str, list[Step]] = {}
        self.said: dict[tuple[str, int], Said] = {}
        self.sums = 0

    def run(
        self, *, verified: bool | None = True, claimed: bool | None = None, broken: str = "",
        judged: bool = True, steps: list[Step] | None = None, held: Sequence[Held] = (), **values: Any,
    ) -> Run:  # fmt: skip
        self.number += 1
        number = self.number
        at = Nanos(MONDAY + number * SECOND + values.pop("later", 0))
        keys = values.pop("keys", {})
        given: dict[str, Any] = {
            "run_id": RunId(f"run-{number:03}"),
            "trace_ids": (f"{number:032x}",),
            "root_span_id": f"{number:016x}",
            "agent_name": "desk",
            "agent_version": "rc3",
            "environment": "prod",
            "business_keys": keys,
            "started_at": at,
            "ended_at": Nanos(at + 10 * SECOND),
            "duration_ns": 10 * SECOND,
            "active_ns": 10 * SECOND,
            "state": RunState.SETTLED,
            "settled_at": Nanos(at + 40 * SECOND),
            "revision": 1,
            "complete": True,
            "status": RunStatus.OK,
            "last_received_at": at,
            "llm_calls": 2,
            "tool_calls": 3,
            "steps": 5,
            "input_tokens": 100,
            "output_tokens": 10,
            "usage_source": "model_steps",
            "cost_usd": 0.5,
        }
        run = Run(**{**given, **values})
        self._runs.append((run, number))
        self.runs[run.run_id] = run
        if judged and run.state is RunState.SETTLED:
            self.judge(run, verified, claimed, broken, held=held)
        return run

    def judge(
        self, run: Run, verified: bool | None, claimed: bool | None = None, broken: str = "",
        version: str = "1", held: Sequence[Held] = (),
    ) -> None:  # fmt: skip
        if verified is not None:
            self.label(run, "state", Surface.OUTCOME, version=version, passed=verified)
        if claimed is not None:
            self.label(
                run, "claim", Surface.FACTUALITY, passed=claimed == verified, claimed=claimed
            )
        self.label(
            run, "refunds", Surface.POLICY, passed=not broken, violations=bool(broken), held=held
        )
        if broken:
            self.breach(run, "refunds", broken)
        self.sum_up(run)

    def breach(self, run: Run, policy: str, rule: str, *, version: str = "1") -> None:
        """Put down the first breach of a judgment."""
        row = ViolationRow(
            **self._of(run), policy=policy, policy_version=version, place=0, rule=rule,
            message="m", severity="hard", steps=(), at=run.started_at,
        )  # fmt: skip
        self._put("violations", row)
        self._said(run)[2].append(row)

    def label(
        self, run: Run, grader: str, surface: Surface, *, version: str = "1", violations: int = 0,
        kind: GraderKind = GraderKind.CODE, at: int = 0, state: State = State.GRADED,
        held: Sequence[Held] = (), tries: int = 0, again_at: Nanos | None = None, summed: bool = True,
        **said: Any,
    ) -> None:  # fmt: skip
        given = {
            **self._of(run), "grader": grader, "grader_version": version, "surface": surface,
            "kind": kind, "at": Nanos(run.started_at + at),
        }  # fmt: skip
        if said:
            label = LabelRow(**given, **said)
            self._put("labels", label)
            self._said(run)[1].append(label)
        status = StatusRow(
            **given, **held_columns(held), state=state, violations=int(violations), tries=tries,
            again_at=again_at,
        )  # fmt: skip
        self._put("grader_status", status)
        self._said(run)[0].append(status)
        if summed:
            self.sum_up(run)

    def sum_up(self, run: Run) -> None:
        """Write the verdict that follows from everything that was written of a run."""
        self.sums += 1
        statuses, labels, violations = self._said(run)
        judged = RunJudgments(statuses=statuses, labels=labels, violations=violations)
        acts = acts_of(self.steps.get(run.run_id, ()))
        row = verdict_row(run, judged, acts, at=Nanos(MONDAY + self.sums))
        self._put("verdicts", row)

    def write(self) -> None:
        """Write what was put down."""
        runs, self._runs = self._runs, []
        if runs:
            moments = [number for _, number in runs]
            RowWriter(self._store).runs([run for run, _ in runs], reading="r", folded_at=moments)
        steps, self._steps = self._steps, []
        if steps:
            RowWriter(self._store).steps(steps, folded_at=1)
        rows, self._rows = self._rows, {}
        for table, lines in rows.items():
            self._store.insert(table, lines)

    def _put(self, table: str, row: Any) -> None:
        self._rows.setdefault(table, []).append(row)

    def _said(self, run: Run) -> Said:
        return self.said.setdefault((run.run_id, run.revision), ([], [], []))

    def _of(self, run: Run) -> dict[str, Any]:
        return {
            "started_at": run.started_at, "run_id": run.run_id, "revision": run.revision,
            "agent_name": run.agent_name, "agent_version": run.agent_version,
            "environment": run.environment, "origin": run.origin,
        }  # fmt: skip

    def step(self, run: Run, number: int, kind: Kind, **values: Any) -> None:
        at = Nanos(run.started_at + number)
        given: dict[str, Any] = {
            "run_id": run.run_id, "trace_id": TraceId(run.trace_ids[0]),
            "span_id": SpanId(f"{number:016x}"), "started_at": at, "ended_at": at,
            "duration_ns": 0, "kind": kind, "counted": True,
        }  # fmt: skip
        step = Step(**{**given, **values})
        self._steps.append(step)
        self.steps.setdefault(run.run_id, []).append(step)
        self.sum_up(run)
