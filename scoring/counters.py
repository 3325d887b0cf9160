"""What scoring tells Prometheus: verdicts, violations, and how far the jobs are behind."""

from collections.abc import Sequence
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge

from scoring.grading.limit import Patience
from scoring.grading.port import Grader, Surface
from scoring.grading.run import Judged
from scoring.jobs import Job, Jobs


class Counters:
    """Figures of judging. No run, customer or user is a label."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._verdicts = Counter(
            "gnomon_verdicts_total",
            "Outcomes judged, by agent: passed, failed, abstained, broken.",
            ["agent", "verdict"],
            registry=registry,
        )
        self._violations = Counter(
            "gnomon_violations_total",
            "Breaches of rules by agents.",
            ["agent", "rule"],
            registry=registry,
        )
        self._failed = Counter(
            "gnomon_grader_failures_total",
            "Judgments that a grader broke on.",
            ["grader"],
            registry=registry,
        )
        self._lag = Gauge(
            "gnomon_job_lag_seconds",
            "From the end of the last finished window of a job to now.",
            ["job"],
            registry=registry,
        )

        self._aside = Gauge(
            "gnomon_grader_set_aside",
            "1 while a grader is not asked, because it took too long several times in a row.",
            ["grader"],
            registry=registry,
        )

    def watch(self, graders: Sequence[Grader], patience: Patience) -> None:
        """Tell of each grader whether it is set aside, whenever somebody asks."""
        for grader in graders:
            told = partial(_set_aside, patience, grader.name)
            self._aside.labels(grader.name).set_function(told)

    def judged(self, judged: Sequence[Judged]) -> None:
        """Count judgments that are stored."""
        for one in judged:
            agent = one.status.agent_name or ""
            if one.status.surface is Surface.OUTCOME:
                self._verdicts.labels(agent, _verdict(one)).inc()
            if one.status.state == "failed":
                self._failed.labels(one.status.grader).inc()
            for breach in one.violations:
                self._violations.labels(agent, f"{breach.policy}.{breach.rule}").inc()

    def ticked(self, jobs: Jobs, job: Job) -> None:
        """Note how far a job is behind."""
        lag = jobs.state(job).lag
        if lag is not None:
            self._lag.labels(job.name).set(lag.total_seconds())


def _set_aside(patience: Patience, grader: str) -> float:
    return float(grader in patience.problems())


def _verdict(one: Judged) -> str:
    if one.status.state == "graded" and one.label is not None and one.label.passed is not None:
        return "passed" if one.label.passed else "failed"
    return "broken" if one.status.state == "failed" else str(one.status.state)
