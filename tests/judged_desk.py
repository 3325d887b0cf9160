"""The refund desk in a real store, judged by made-up graders: for the tests of judged pages."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import yaml

from collector.store import Reader
from gnomon.clock import Nanos, Window, from_nanos
from gnomon.model import Kind, Run, RunState, RunStatus, Step
from gnomon.store import Store
from gnomon.web.port import Judging
from scoring.backfill import Progress
from scoring.grading.policy import PolicyGrader
from scoring.grading.port import Answer, Evidence, Grader, GraderKind, NotApplicable, State, Surface
from scoring.jobs import Done, Job, Jobs
from scoring.metrics.reader import MetricReader
from scoring.metrics.watched import CompareSection, MetricsWatched, RuleSection
from scoring.policies.language import Policy
from scoring.reading import Judgments
from scoring.rows import LabelRow, StatusRow, ViolationRow
from scoring.store import JudgmentReader, JudgmentWriter, StoredLedger
from scoring.verdicts import JudgedRun, Verdicts
from scoring.versions.reader import CompareReader
from tests import desk
from tests.desk import DAY, MINUTE, NOW, SECOND
from tests.judged_world import seen_first
from tests.row_writer import RowWriter
from tests.stores import copied_store, migrated, migrated_store

POLICY = """
policy: refunds
version: "3"
required_before:
  issue_refund:
    - {tool: verify_identity}
    - {tool: consult_refund_policy}
prohibited:
  - {tool: issue_refund, max_committed: 1, idempotency: idempotency_key}
"""
BROKEN = "required_before.issue_refund.0"
KEPT = "prohibited.0"
METRICS = MetricsWatched(slices={"topic": "topic"})


@dataclass(frozen=True)
class Said:
    """A grader that is set up; what it said is written by hand."""

    name: str
    surface: Surface
    version: str = "1"
    kind: GraderKind = GraderKind.CODE

    def grade(self, evidence: Evidence) -> Answer:
        return NotApplicable(reason="never asked")


@dataclass
class NoBackfill:
    known: dict[str, Progress] = field(default_factory=dict)

    def progress(self) -> dict[str, Progress]:
        return self.known


POLICY_GRADER = PolicyGrader(policy=Policy.model_validate(yaml.safe_load(POLICY)))
GRADERS: Sequence[Grader] = (
    POLICY_GRADER,
    Said("paid-right", Surface.OUTCOME),
    Said("claim", Surface.FACTUALITY),
    Said("new-grader", Surface.TRAJECTORY),
)


@dataclass
class Rows:
    statuses: list[StatusRow] = field(default_factory=list)
    labels: list[LabelRow] = field(default_factory=list)
    violations: list[ViolationRow] = field(default_factory=list)

    def write(self, store: Store) -> None:
        for table, rows in (
            ("labels", self.labels),
            ("violations", self.violations),
            ("grader_status", self.statuses),
        ):
            store.insert(table, rows)

    def sum_up(self, store: Store, reader: Reader, runs: Sequence[Run]) -> None:
        """Make the verdicts of the runs that were judged, as the job of that name does."""
        said = {row.run_id for row in self.statuses}
        judged = [run for run in runs if run.run_id in said]
        steps = reader.counted_steps(judged)
        verdicts = Verdicts(JudgmentReader(store), JudgmentWriter(store))
        verdicts.keep(
            [JudgedRun(run=run, steps=steps[run.run_id], judged=(), first=False) for run in judged],
            at=NOW,
        )

    def judge(
        self, run: Run, grader: Grader, *, passed: bool | None, state: State = State.GRADED,
        why: str = "", claimed: bool | None = None, broken: Sequence[str] = (), steps: Sequence[str] = (),
    ) -> None:  # fmt: skip
        of = {
            "started_at": run.started_at, "run_id": run.run_id, "revision": run.revision,
            "agent_name": run.agent_name, "agent_version": run.agent_version,
            "environment": run.environment, "origin": run.origin, "at": Nanos(run.ended_at + SECOND),
        }  # fmt: skip
        names = {"grader": grader.name, "grader_version": grader.version}
        judged = {**names, "surface": grader.surface, "kind": grader.kind}
        self.statuses.append(
            StatusRow(**of, **judged, state=state, why=why, violations=len(broken))
        )
        if state is State.GRADED:
            self.labels.append(
                LabelRow(**of, **judged, passed=passed, claimed=claimed, explanation="as expected")
            )
        for place, rule in enumerate(broken):
            self.violations.append(
                ViolationRow(
                    **of,
                    policy=grader.name,
                    policy_version=grader.version,
                    place=place,
                    rule=rule,
                    message="issue_refund without verify_identity before it",
                    severity="hard",
                    steps=tuple(steps),
                )
            )


@dataclass
class World:
    """What was written, to count by hand."""

    store: Store
    reader: Reader
    judging: Judging
    runs: list[Run]
    verified: dict[str, bool | None]
    """Of settled runs."""
    broken: dict[str, str]
    """Run and the step that broke the rule."""


def judging_of(
    store: Store, reader: Reader, *, watched: MetricsWatched = METRICS,
    graders: Sequence[Grader] = GRADERS,
) -> Judging:  # fmt: skip
    clock = lambda: from_nanos(NOW)  # noqa: E731
    ledger = StoredLedger(store)
    done = Window(from_nanos(NOW - MINUTE), from_nanos(NOW - 50 * SECOND))
    ledger.finish(
        Done(job="judge", window=done, rows=21, finished_at=from_nanos(NOW - 48 * SECOND))
    )
    job = Job(
        name="judge", width=done.end - done.start, run=lambda window, token: 0,
        watermark=lambda: from_nanos(NOW - 30 * SECOND), beginning=lambda: done.start,
        purpose="judges settled runs",
    )  # fmt: skip
    metrics = MetricReader(store, watched)
    return Judging(
        judgments=Judgments(
            stored=JudgmentReader(store), runs=reader, graders=graders, clock=clock,
            judged_until=lambda: done.end,
        ),
        metrics=metrics,
        compare=CompareReader(store, metrics),
        policies=[one for one in graders if isinstance(one, PolicyGrader)],
        jobs=Jobs(jobs=[job], ledger=ledger, clock=clock),
        backfills=NoBackfill(),  # type: ignore[arg-type]
    )  # fmt: skip


def written(store: Store, runs: Sequence[Run], steps: Sequence[Step] = ()) -> Reader:
    writer = RowWriter(store)
    for start in range(0, len(steps), 5_000):
        writer.steps(steps[start : start + 5_000], folded_at=1)
    writer.runs(runs, reading="r", folded_at=1)
    return Reader(store)


@dataclass
class Month:
    """A month of the desk and what its graders said."""

    runs: list[Run]
    steps: list[Step]
    rows: Rows
    verified: dict[str, bool | None]
    broken: dict[str, str]

    def write(self, store: Store) -> None:
        migrated(store)
        reader = written(store, self.runs, self.steps)
        self.rows.write(store)
        self.rows.sum_up(store, reader, self.runs)


@cache
def month(count: int) -> Month:
    memory = desk.desk(count)
    chance = random.Random(11)
    runs = [
        replace(
            run, business_keys={**run.business_keys, "topic": chance.choice(("late", "broken"))}
        )
        for run in memory.all
    ]
    verified: dict[str, bool | None] = {}
    broken: dict[str, str] = {}
    rows = Rows()
    policy, outcome, claim = GRADERS[:3]
    settled = [run for run in runs if run.state is RunState.SETTLED]
    for run in settled[1:]:
        dip = 0.17 * 30 * DAY < NOW - run.started_at < 0.22 * 30 * DAY
        if chance.random() < 0.02:
            rows.judge(
                run, outcome, passed=None, state=State.FAILED, why="the ledger did not answer"
            )
            verified[run.run_id] = None
        else:
            right = run.status is RunStatus.OK and chance.random() > (0.4 if dip else 0.06)
            rows.judge(run, outcome, passed=right)
            verified[run.run_id] = right
        rows.judge(
            run, claim, passed=bool(verified[run.run_id]), claimed=run.status is RunStatus.OK
        )
        refund = next(
            (s for s in memory.steps[run.run_id] if s.kind is Kind.TOOL and s.tool_name == "issue_refund"), None
        )  # fmt: skip
        breaks = refund is not None and chance.random() < 0.05
        if breaks and refund is not None:
            broken[run.run_id] = refund.span_id
        rows.judge(
            run, policy, passed=not breaks, broken=[BROKEN] if breaks else (),
            steps=[refund.span_id] if breaks and refund else (),
        )  # fmt: skip
    verified[settled[0].run_id] = None
    steps = [step for found in memory.steps.values() for step in found]
    return Month(runs, steps, rows, verified, broken)


@contextmanager
def judged_desk(data: Path, *, count: int = 700) -> Iterator[World]:
    """Open a judged month of the desk; its newest settled run is not judged."""
    made = month(count)
    with copied_store(f"desk {count}", data, made.write) as store:
        reader = Reader(store)
        yield World(
            store,
            reader,
            judging_of(store, reader),
            list(made.runs),
            dict(made.verified),
            dict(made.broken),
        )


THIRDS = [1] * 3 + [2] * 6 + [-1] * 3 + [0] * 38
"""50 bugs: by how many of three trials the new version is better (statistics.md 7)."""


def ruled(planned: int) -> MetricsWatched:
    """Return the rule of the worked example: not worse by 5 points on so many tasks."""
    rule = RuleSection(
        metric="completion",
        basis="tasks",
        agent="fixer",
        margin=0.05,
        n=planned,
        trials=3,
        violations="not_judged",
    )
    return MetricsWatched(compare=CompareSection(rule=rule))


@contextmanager
def fifty_bugs(data: Path) -> Iterator[World]:
    """Write the worked example: 50 tasks, three trials each, two versions."""
    runs: list[Run] = []
    rows = Rows()
    verified: dict[str, bool | None] = {}
    grader = Said("hidden-test", Surface.OUTCOME)
    for task, thirds in enumerate(THIRDS):
        old = 1 if thirds else task % 4
        for version, passes in (("old", old), ("new", old + thirds)):
            for trial in range(3):
                start = NOW - DAY + (task * 6 + trial * 2 + (version == "new")) * SECOND
                name = f"{version}-{task:02}-{trial}"
                run = Run(
                    run_id=name, trace_ids=[name], root_span_id="a", agent_name="fixer",  # type: ignore[arg-type]
                    agent_version=version, environment="bench", started_at=Nanos(start),
                    ended_at=Nanos(start + SECOND), duration_ns=SECOND, active_ns=SECOND,
                    state=RunState.SETTLED, settled_at=Nanos(start + 30 * SECOND), revision=1,
                    complete=True, status=RunStatus.OK, business_keys={"task_id": f"bug-{task:02}"},
                    steps=1, spans=1, last_received_at=Nanos(start), cost_usd=0.1,
                    manifest={"model": f"m-{version}", "prompt": f"p-{version}", "tools": "t-1"},
                )  # fmt: skip
                runs.append(run)
                verified[name] = trial < passes
                rows.judge(run, grader, passed=trial < passes)
    with migrated_store("embedded", data) as store:
        reader = written(store, runs)
        rows.write(store)
        rows.sum_up(store, reader, runs)
        judging = judging_of(store, reader, watched=ruled(50), graders=[grader])
        seen_first(store, judging.compare.plan)
        yield World(store, reader, judging, runs, verified, {})
