"""What was asked of history, kept in the store, so that a killed process forgets none of it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gnomon.clock import Nanos
from gnomon.store import Store
from gnomon.store.sql import load
from gnomon.store.statements import columns, filled

Which = Literal["missing", "failed", "all"]
"""Runs without a judgment; those and the ones on which the grader broke; or all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a backfill is."""

    grader: str
    grader_version: str
    which: Which
    since: Nanos | None
    asked_at: Nanos
    begun_at: Nanos | None = None
    """None while it waits for its turn."""
    runs: int = 0
    """Runs looked at."""
    total: int | None = None
    """Settled runs there are to look at; None until it is counted."""
    judged: int = 0
    """Judgments made."""
    finished_at: Nanos | None = None
    failing: str | None = None
    """Why it ended early; asking again goes on where it ended."""
    left_ns: int | None = None
    """How long it goes on, at the rate so far; None while nobody can say."""


class BackfillLog:
    """The last backfill of each grader and version."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("scoring")

    def note(self, progress: Progress) -> None:
        """Write how far it is; the last word counts."""
        self._store.insert("backfills", [progress], tag="scoring.backfills", noted=time.time_ns())

    def last(self) -> Sequence[Progress]:
        """Return what was asked last of each grader and version."""
        sql = filled(self._sql["backfills_last"], columns=columns(Progress))
        return [Progress(**row) for row in self._store.read(sql, tag="scoring.backfills_last")]
