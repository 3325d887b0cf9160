"""The clockwork: it only ticks. What a tick does is decided by each job's ledger."""

import logging
import threading
from collections.abc import Callable, Mapping

import structlog
from apscheduler.schedulers.background import BackgroundScheduler

from gnomon.errors import GnomonError
from scoring.jobs import Job, Jobs, told

log = structlog.get_logger(__name__)

# A tick while the one before is still at work is nothing to warn of.
logging.getLogger("apscheduler").setLevel(logging.ERROR)

EVERY_SECONDS = 5.0


class Scheduler:
    """A part that ticks every job; a late tick is a tick, and two are one."""

    name = "jobs"

    def __init__(
        self,
        jobs: Jobs,
        stopping: threading.Event,
        *,
        every: float = EVERY_SECONDS,
        ticked: Callable[[Job], None] = lambda _job: None,
        also: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._jobs = jobs
        self._stopping = stopping
        self._ticked = ticked
        self._also = also
        self._every = every
        self._ticking: BackgroundScheduler | None = None
        self._failures: dict[str, str] = {}

    def start(self) -> None:
        """Begin to tick."""
        clockwork = BackgroundScheduler(
            timezone="UTC",
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        )
        for job in self._jobs.jobs:
            clockwork.add_job(
                self._tick, "interval", seconds=self._every, args=[job], id=job.name, name=job.name
            )
        clockwork.start()
        self._ticking = clockwork

    def stop(self, timeout: float) -> None:
        """End the ticking; a window in work is left where it can be taken up again."""
        self._stopping.set()
        if self._ticking is None:
            return
        clockwork, self._ticking = self._ticking, None
        ending = threading.Thread(target=clockwork.shutdown, daemon=True)
        ending.start()
        ending.join(timeout)

    def problem(self) -> str | None:
        """Name the windows that do not finish, and graders that are set aside, from memory."""
        if self._ticking is None:
            return None if self._stopping.is_set() else "not started"
        if not self._ticking.running:
            return "the clockwork has ended; restart this process"
        failing = {**self._also(), **self._failures, **self._jobs.failures}
        return "; ".join(f"{job}: {why}" for job, why in sorted(failing.items())) or None

    def _tick(self, job: Job) -> None:
        try:
            self._jobs.tick(job, stop=self._stopping.is_set)
            self._failures.pop(job.name, None)
            self._ticked(job)
        except GnomonError as error:
            if job.name not in self._failures:
                log.warning("job_waits", job=job.name, code=error.code)
            self._failures[job.name] = error.detail
        except BaseException as error:  # else a thread of the clockwork dies in silence
            log.error("job_broken", job=job.name, exc_info=error)
            self._failures[job.name] = told(error)
