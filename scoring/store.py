"""Judgments and finished windows in ClickHouse: who writes them, and what others may ask."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from gnomon.clock import Nanos, Window, from_nanos, to_nanos
from gnomon.model import Run, RunId
from gnomon.store import Store
from gnomon.store.engines import quoted
from gnomon.store.sql import load
from gnomon.store.statements import columns, filled
from scoring import rows
from scoring import statements as st
from scoring.grading.port import Grader, State
from scoring.grading.run import Judged
from scoring.jobs import Done
from scoring.retries import MADE_UP_FOR
from scoring.rows import LabelRow, StatusRow, VerdictRow, ViolationRow, WindowRow
from scoring.statements import ViolationFilter, ViolationPosition

_MANY = 500
"""Runs in one statement; more go in several."""


class JudgedKey(NamedTuple):
    """One judgment that was made."""

    run_id: str
    revision: int
    grader: str
    grader_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationBucket:
    """The breaches of a rule by runs that started in [start, start + width)."""

    start: Nanos
    policy: str
    rule: str
    severity: str
    violations: int
    runs: int
    """Runs with at least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusCount:
    """How many runs a grader left in a state."""

    grader: str
    grader_version: str
    state: State
    runs: int
    broken: int
    """Of these, with a violation."""
    last_at: Nanos


class Made(NamedTuple):
    """What became of a judgment, and when."""

    state: State
    at: Nanos
    tries: int = 0
    again_at: Nanos | None = None


class Outdated(NamedTuple):
    """Verdicts for which another version of a grader spoke than the one that is set up."""

    heard: Sequence[RunId]
    """Those of them that the version which is set up has judged, too."""
    after: tuple[Nanos, RunId] | None
    """Where the next ones begin; None behind the last."""


class MadeVerdict(NamedTuple):
    """Of which judgments a verdict is made."""

    judged_at: Nanos
    """When the last of them was made."""
    versions: Mapping[str, str]
    """The version of each grader that spoke, by name."""


class JudgmentWriter:
    """Writes what graders said. Every write may come again."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self, judged: Sequence[Judged]) -> None:
        """Write labels and violations, then the statuses that say they are there."""
        labels = [one.label for one in judged if one.label is not None]
        violations = [row for one in judged for row in one.violations]
        statuses = [one.status for one in judged]
        token = _token(statuses)
        self._store.insert("labels", labels, token=f"labels:{token}", tag="scoring.labels")
        self._store.insert(
            "violations", violations, token=f"violations:{token}", tag="scoring.violations"
        )
        self._store.insert(
            "grader_status", statuses, token=f"status:{token}", tag="scoring.grader_status"
        )

    def write_verdicts(self, verdicts: Sequence[VerdictRow]) -> None:
        """Write verdicts; a later one of the same run and revision replaces the earlier."""
        digest = hashlib.sha256()
        for row in verdicts:
            digest.update(repr(replace(row, at=Nanos(0))).encode())
        token = f"verdicts:{digest.hexdigest()}"
        self._store.insert("verdicts", verdicts, token=token, tag="scoring.verdicts")


def _token(statuses: Sequence[StatusRow]) -> str:
    """Name a write by what it holds."""
    digest = hashlib.sha256()
    for row in statuses:
        said = (
            row.run_id,
            row.revision,
            row.grader,
            row.grader_version,
            row.state,
            row.why,
            row.at,
        )
        digest.update(repr(said).encode())
    return digest.hexdigest()


class JudgmentReader:
    """What others may ask of scoring's tables. Every answer is de-duplicated."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("scoring")

    def judged(self, runs: Sequence[Run]) -> dict[JudgedKey, Made]:
        """Return which judgments of these runs were made, whatever the revision."""
        return {
            JudgedKey(row["run_id"], row["revision"], row["grader"], row["grader_version"]): Made(
                State(row["state"]), Nanos(row["at"]), row["tries"], row["again_at"]
            )
            for row in self._of_runs(self._sql["judged"], "judged", runs)
        }

    def due(self, graders: Sequence[Grader], now: Nanos) -> dict[RunId, set[str]]:
        """Return the runs of which graders are to be asked again by now, with their names."""
        found = self._store.read(
            self._sql["due"],
            tag="scoring.due",
            now=now,
            since=now - MADE_UP_FOR,
            graders=[f"{grader.name}\n{grader.version}" for grader in graders],
        )
        runs: dict[RunId, set[str]] = {}
        for row in found:
            runs.setdefault(RunId(row["run_id"]), set()).add(row["grader"])
        return runs

    def verdicts_made(self, runs: Sequence[Run]) -> dict[tuple[str, int], MadeVerdict]:
        """Return of which judgments the verdicts of runs and revisions are made."""
        return {
            (row["run_id"], row["revision"]): MadeVerdict(
                Nanos(row["judged_at"]),
                dict(zip(row["graders"], row["grader_versions"], strict=True)),
            )
            for row in self._of_runs(self._sql["verdicts_made"], "verdicts_made", runs)
        }

    def outdated(
        self, versions: Mapping[str, str], after: tuple[Nanos, RunId], *, limit: int = 5_000
    ) -> Outdated:
        """Return a page of verdicts behind a run, oldest first; `versions`: those set up, by grader."""
        present = [f"{name}\n{version}" for name, version in versions.items()]
        found = self._store.read(
            self._sql["outdated_verdicts"],
            tag="scoring.outdated_verdicts",
            after=after[0],
            after_id=after[1],
            limit=limit,
            names=list(versions),
            present=present,
        )
        if not found:
            return Outdated(heard=(), after=None)
        first, last = found[0], found[-1]
        pairs = [(row["run_id"], grader) for row in found for grader in row["outdated"]]
        heard = self._store.read(
            self._sql["judged_by"],
            tag="scoring.judged_by",
            first=first["started"],
            last=last["started"],
            asked=orjson.dumps(pairs).decode(),
            present=present,
        )
        return Outdated(
            heard=[RunId(row["run_id"]) for row in heard],
            after=(Nanos(last["started"]), RunId(last["run_id"])),
        )

    def statuses(self, runs: Sequence[Run]) -> dict[RunId, list[StatusRow]]:
        """Return the statuses of some runs at their present revision."""
        sql = filled(self._sql["statuses_of_runs"], columns=columns(StatusRow))
        return _present(runs, map(rows.status, self._of_runs(sql, "statuses_of_runs", runs)))

    def labels(self, runs: Sequence[Run]) -> dict[RunId, list[LabelRow]]:
        """Return the labels of some runs at their present revision."""
        sql = filled(self._sql["labels_of_runs"], columns=columns(LabelRow))
        return _present(runs, map(rows.label, self._of_runs(sql, "labels_of_runs", runs)))

    def violations_of(self, runs: Sequence[Run]) -> dict[RunId, list[ViolationRow]]:
        """Return the violations of some runs at their present revision."""
        sql = filled(self._sql["violations_of_runs"], columns=columns(ViolationRow))
        found = _present(runs, map(rows.violation, self._of_runs(sql, "violations_of_runs", runs)))
        counts = self._counted(runs)
        return {
            run_id: [row for row in given if _counts(row, counts)]
            for run_id, given in found.items()
        }

    def violations(
        self, where: ViolationFilter, *, limit: int, after: ViolationPosition | None = None
    ) -> list[ViolationRow]:
        """List violations as they were written, newest run first, behind `after`.

        Those of a revision that is gone are among them: see `present`.
        """
        condition = st.of_violations(where)
        if after is not None:
            st.behind(condition, after)
        sql = filled(self._sql["violations"], columns=columns(ViolationRow), where=condition.text)
        found = self._store.read(sql, tag="scoring.violations", limit=limit, bind=condition.params)
        return [rows.violation(row) for row in found]

    def present(
        self, given: Sequence[ViolationRow], runs: Mapping[RunId, Run]
    ) -> list[ViolationRow]:
        """Keep the violations of runs as they are now."""
        counts = self._counted(list(runs.values()))
        return [
            row
            for row in given
            if row.run_id in runs
            and row.revision == runs[row.run_id].revision
            and row.started_at == runs[row.run_id].started_at
            and _counts(row, counts)
        ]

    def violation_buckets(self, where: ViolationFilter, *, width_ns: int) -> list[ViolationBucket]:
        """Return breaches per rule and width of time, at the last judged revision of each run."""
        breaches, statuses = st.of_violations(where), st.of_statuses(where)
        sql = filled(
            self._sql["violation_buckets"], where=breaches.text, where_status=statuses.text
        )
        found = self._store.read(
            sql,
            tag="scoring.violation_buckets",
            width=width_ns,
            bind={**statuses.params, **breaches.params},
        )
        return [ViolationBucket(**row) for row in found]

    def status_counts(self, where: ViolationFilter) -> list[StatusCount]:
        """Return how many runs each grader and version left in which state."""
        condition = st.of_statuses(where)
        sql = filled(self._sql["status_counts"], where=condition.text)
        found = self._store.read(sql, tag="scoring.status_counts", bind=condition.params)
        return [StatusCount(**{**row, "state": State(row["state"])}) for row in found]

    def _counted(self, runs: Sequence[Run]) -> dict[JudgedKey, int]:
        """Return how many violations each judgment of these runs has."""
        return {
            JudgedKey(row.run_id, row.revision, row.grader, row.grader_version): row.violations
            for given in self.statuses(runs).values()
            for row in given
        }

    def _of_runs(self, sql: str, name: str, runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
        ordered = sorted(runs, key=lambda run: run.started_at)
        for start in range(0, len(ordered), _MANY):
            some = ordered[start : start + _MANY]
            yield from self._store.read(
                sql,
                tag=f"scoring.{name}",
                first=some[0].started_at,
                last=some[-1].started_at,
                runs=orjson.dumps([run.run_id for run in some]).decode(),
            )


def _counts(row: ViolationRow, counts: Mapping[JudgedKey, int]) -> bool:
    key = JudgedKey(row.run_id, row.revision, row.policy, row.policy_version)
    return row.place < counts.get(key, 0)


def _present(runs: Sequence[Run], found: Iterable[Any]) -> dict[RunId, list[Any]]:
    """Return rows by run, those of the present revision only."""
    wanted = {run.run_id: run.revision for run in runs}
    kept = (row for row in found if row.revision == wanted[row.run_id])
    return {run_id: list(some) for run_id, some in groupby(kept, key=lambda row: row.run_id)}


class StoredLedger:
    """Which windows of which job are finished, in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("scoring")

    def last_end(self, job: str) -> Any:
        """Return the end of the last window without a gap before it, or None."""
        last = self.last(job)
        return None if last is None else last.window.end

    def finish(self, done: Done) -> None:
        """Note a window; doing it twice is harmless."""
        row = WindowRow(
            job=done.job,
            window_start=to_nanos(done.window.start),
            window_end=to_nanos(done.window.end),
            rows=done.rows,
            finished_at=to_nanos(done.finished_at),
        )
        # The moment belongs to the token: a window that was opened again is no repeat.
        token = f"{done.job}:{done.window}:{row.finished_at}"
        self._store.insert("job_ledger", [row], token=token, tag="scoring.job_ledger")

    def reopen(self, job: str, since: dt.datetime) -> None:
        """Forget the windows that end after a moment; they are worked on again."""
        words = {"job": quoted(job), "since": str(to_nanos(since))}
        self._store.command(filled(self._sql["ledger_reopen"], **words), tag="scoring.reopen")

    def last(self, job: str) -> Done | None:
        """Return the window that finished last."""
        return next(iter(self.history(job, limit=1)), None)

    def history(self, job: str, *, limit: int) -> Sequence[Done]:
        """Return the windows that finished last, newest first."""
        sql = filled(self._sql["ledger_last"], columns=columns(WindowRow))
        found = self._store.read(sql, tag="scoring.ledger_last", job=job, limit=limit)
        return [
            Done(
                job=row["job"],
                window=Window(from_nanos(row["window_start"]), from_nanos(row["window_end"])),
                rows=row["rows"],
                finished_at=from_nanos(row["finished_at"]),
            )
            for row in found
        ]
