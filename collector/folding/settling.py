"""Whether more is expected of a run: open, settled, reopened, and when to look again (1.2)."""

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gnomon.clock import Nanos
from gnomon.model import RunId, RunState

PATIENCE = 10
"""A run without a root, or with a pending span, settles after so many quiet periods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Previous:
    """What is stored of a run from the last time it was folded."""

    run_id: RunId
    state: RunState
    revision: int
    settled_at: Nanos | None
    content_digest: str
    trace_ids: Sequence[str]
    started_at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The state of a run, and when to fold it again while it is open."""

    state: RunState
    settled_at: Nanos | None
    revision: int
    again: Nanos | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settler:
    """Settles runs by one clock and one quiet period."""

    quiet_period: dt.timedelta
    now: Nanos

    def settle(
        self,
        before: Previous | None,
        *,
        digest: str,
        last_received: Nanos,
        flags: Collection[str],
    ) -> Settlement:
        """Decide about a run.

        A settled run is reopened, and its revision raised, only by new content: a repeat of what
        is known changes nothing. A settled run stays as it is on re-reading.
        """
        revision = before.revision if before is not None else 0
        if before is not None and before.state is RunState.SETTLED:
            if before.content_digest == digest:
                return Settlement(
                    state=RunState.SETTLED,
                    settled_at=before.settled_at,
                    revision=revision,
                    again=None,
                )
            revision += 1
        quiet = self.quiet_period // dt.timedelta(microseconds=1) * 1_000
        patient = "pending" in flags or "no_root" in flags
        due = Nanos(last_received + quiet * (PATIENCE if patient else 1))
        settled = self.now >= due
        return Settlement(
            state=RunState.SETTLED if settled else RunState.OPEN,
            settled_at=due if settled else None,
            revision=revision,
            again=None if settled else due,
        )
