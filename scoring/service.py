"""Scoring put together: graders, jobs, the clockwork and the API over one store."""

import datetime as dt
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastapi import APIRouter

from collector.store import Reader
from gnomon.clock import Clock
from gnomon.config import Settings
from gnomon.service import Part
from gnomon.store import Store
from gnomon.telemetry import Metrics
from gnomon.watch import Watch
from scoring.backfill import Backfills
from scoring.backfill_log import BackfillLog
from scoring.counters import Counters
from scoring.grading.port import Grader
from scoring.grading.spec import Means
from scoring.jobs import Job, Jobs
from scoring.judge import JUDGE, Judging, judge_job, retries_job, verdicts_job
from scoring.metrics.reader import MetricReader
from scoring.metrics.watched import watched as metrics_watched
from scoring.reading import Judgments
from scoring.rollbacks import Rollbacks, rollbacks_job
from scoring.router import build_router
from scoring.scheduler import Scheduler
from scoring.store import JudgmentReader, JudgmentWriter, StoredLedger
from scoring.verdicts import Verdicts
from scoring.versions.reader import CompareReader
from scoring.versions.schedule import looks_job
from scoring.watched import Watched, watched


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """What the other rooms and the doors get to see."""

    watched: Watched
    graders: Sequence[Grader]
    parts: Sequence[Part]
    """What is started and stopped with the process, in this order."""
    router: APIRouter
    """Included before the collector's: `/v1/runs/{run_id}/judgments` is more precise than its own."""
    reader: Judgments
    metrics: MetricReader
    compare: CompareReader
    jobs: Jobs
    judging: Judging
    backfills: Backfills


def build(
    settings: Settings,
    watch: Watch,
    *,
    store: Store,
    reader: Reader,
    watermark: Callable[[], dt.datetime | None],
    clock: Clock,
    metrics: Metrics,
    more_jobs: Sequence[Job] = (),
) -> Scoring:
    """Put scoring together; `watermark` is the roll-up's. Raises ConfigError naming line and mend."""
    del settings  # nothing of scoring is set by environment yet
    said = watched(watch)
    stopping = threading.Event()
    graders = said.built(Means(store=store, stop=stopping.is_set))
    counters = Counters(metrics.registry)
    versions = {grader.name: grader.version for grader in graders}
    stored, writer = JudgmentReader(store), JudgmentWriter(store)
    ledger = StoredLedger(store)
    judging = Judging(
        graders,
        reader,
        stored,
        writer,
        Verdicts(stored, writer, versions),
        clock=clock,
        meter=counters,
        stop=stopping.is_set,
    )
    measured = MetricReader(store, metrics_watched(watch), versions)
    compared = CompareReader(store, measured, graders=graders, clock=clock)
    own = [
        judge_job(judging, reader, watermark),
        retries_job(judging, clock),
        verdicts_job(judging, reader, watermark),
        rollbacks_job(
            Rollbacks(versions, stored, reader, lambda runs: judging.runs(runs, ())), clock
        ),
    ]
    if compared.plan is not None:
        own.append(looks_job(compared, lambda: ledger.last_end(JUDGE)))
    jobs = Jobs(jobs=[*own, *more_jobs], ledger=ledger, clock=clock)
    backfills = Backfills(judging, reader, BackfillLog(store), clock=clock)
    judgments = Judgments(
        stored=stored,
        runs=reader,
        graders=graders,
        clock=clock,
        judged_until=lambda: ledger.last_end(JUDGE),
    )
    counters.watch(graders, judging.patience)
    scheduler = Scheduler(
        jobs,
        stopping,
        ticked=lambda job: counters.ticked(jobs, job),
        also=judging.patience.problems,
    )
    return Scoring(
        watched=said,
        graders=graders,
        parts=(backfills, scheduler),
        router=build_router(judgments, jobs, backfills, said, reader, clock=clock),
        reader=judgments,
        metrics=measured,
        compare=compared,
        jobs=jobs,
        judging=judging,
        backfills=backfills,
    )
