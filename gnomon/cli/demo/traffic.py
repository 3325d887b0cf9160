"""The stream of requests: a day of history at once, then live traffic, with all its disorder."""

import datetime as dt
import heapq
import math
import threading
from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan

from gnomon.cli.demo.chance import Chance
from gnomon.cli.demo.desk import Desk, Handled
from gnomon.cli.demo.emit import GrpcSender, HttpSender, Sender
from gnomon.cli.demo.rehearsal import TASKS, rehearsal
from gnomon.cli.demo.releases import RELEASES
from gnomon.cli.demo.schedule import (
    AGAIN,
    HISTORY_RUNS,
    LATE,
    SECOND,
    Fate,
    arrivals,
    fate_of,
    later,
)
from gnomon.cli.demo.tally import Parcel, Pending, Progress, Tally, Totals
from gnomon.cli.demo.truth import Truth
from gnomon.clock import Clock, Nanos, to_nanos
from gnomon.errors import Unavailable

_BATCH = 256
"""The most spans in one request."""
_TICK = SECOND
"""Time between two live requests to the receiver."""
_BLINK = SECOND // 1_000
"""The shortest wait: clocks tell no less."""
_RESENT_EVERY = 10
_GRPC_EVERY = 5
_PATIENCE = 5
"""How often a batch is tried before the demo gives up."""

OnProgress = Callable[[Progress], None]
OnTruth = Callable[[Truth], None]


def run_traffic(
    endpoint: str,
    *,
    seed: int,
    runs: int | None,
    speed: float,
    start: dt.datetime,
    clock: Clock,
    stop: threading.Event,
    on_progress: OnProgress,
    grpc_address: str | None = None,
    on_truth: OnTruth = lambda _truth: None,
) -> Totals:
    """Send a day of history that ends at `start`, then live traffic; return what was sent.

    `on_truth` hears what really happened in a run once all its spans are acknowledged.
    The rehearsal of the new release goes ahead of the history and does not count into `runs`.
    `endpoint` is the receiver's OTLP/HTTP base (`http://127.0.0.1:4318`); with `grpc_address`
    (`127.0.0.1:4317`) every fifth request goes there. Ends after `runs` runs (None: never) or
    when `stop` is set. `speed` sets how many live requests come in; their own pace stays real.
    """
    if not (math.isfinite(speed) and speed > 0):
        raise ValueError(f"speed {speed}: give a number above 0, such as 1")
    senders: list[Sender] = [HttpSender(endpoint)]
    if grpc_address is not None:
        senders.append(GrpcSender(grpc_address))
    traffic = Traffic(
        senders,
        seed=seed,
        start=start,
        clock=clock,
        stop=stop,
        on_progress=on_progress,
        on_truth=on_truth,
    )
    try:
        traffic.rehearse(seed)
        return traffic.run(runs=runs, speed=speed)
    finally:
        for sender in senders:
            sender.close()


class Traffic:
    """Carries what the desk does to the receiver."""

    def __init__(
        self,
        senders: Sequence[Sender],
        *,
        seed: int,
        start: dt.datetime,
        clock: Clock,
        stop: threading.Event,
        on_progress: OnProgress,
        on_truth: OnTruth = lambda _truth: None,
    ) -> None:
        self._senders = senders
        self._chance = Chance(f"traffic {seed}")
        self._salt = start.isoformat()
        self._desk = Desk(seed, salt=self._salt)
        self._start = to_nanos(start)
        self._clock = clock
        self._stop = stop
        self._on_progress = on_progress
        self._way: list[Parcel] = []
        self._ready: list[Parcel] = []
        self._flushed = Nanos(0)
        self._number = 0
        self._tally = Tally(history_runs=0, on_truth=on_truth)
        self._rehearsed = 0

    def rehearse(self, seed: int) -> None:
        """Send what both releases did at the same tasks before the rollout."""
        self._rehearsed = TASKS * len(RELEASES)
        self._tally.history_runs = self._rehearsed + HISTORY_RUNS
        for handled in rehearsal(seed, self._salt, self._start):
            run = Pending(truth=handled.truth, left=len(handled.spans))
            for span in handled.spans:
                self._send_off(span, run, span.end_time or handled.truth.ended_at)
            self._collect(handled.truth.ended_at)
        self._flush(self._flushed)

    def run(self, *, runs: int | None, speed: float) -> Totals:
        """Send everything that is asked for, or what there was time for."""
        history = min(HISTORY_RUNS, HISTORY_RUNS if runs is None else runs)
        self._tally.history_runs = self._rehearsed + history
        for arrival in arrivals(self._chance, self._start, runs=runs, speed=speed):
            self._bring(until=arrival.at)
            if self._stop.is_set():
                break
            self._dispatch(self._desk.handle(arrival.index, arrival.at, arrival.position))
        self._bring(until=None)
        return self._tally.totals()

    def _dispatch(self, handled: Handled) -> None:
        """Put a run's spans on their way, some of them in disorder."""
        run = Pending(truth=handled.truth, left=len(handled.spans))
        end = handled.truth.ended_at
        fate = fate_of(self._chance, handled.truth.index)
        for place, span in enumerate(handled.spans):
            if fate is Fate.LATE and place == len(handled.spans) // 2:
                self._send_off(span, run, later(end, LATE, self._start), late=True)
            elif fate is Fate.BACKWARDS:
                self._send_off(span, run, end + len(handled.spans) - place)
            else:
                self._send_off(span, run, span.end_time or end)
            if fate is Fate.AGAIN:
                self._send_off(span, run, later(end, AGAIN, self._start), repeated=True)

    def _send_off(
        self,
        span: ReadableSpan,
        run: Pending,
        due: int,
        *,
        repeated: bool = False,
        late: bool = False,
    ) -> None:
        self._number += 1
        parcel = Parcel(due, self._number, span, run, repeated, late)
        heapq.heappush(self._way, parcel)

    def _bring(self, *, until: Nanos | None) -> None:
        """Deliver what is due before a moment (None: all there is); wait where it lies ahead."""
        history = until is not None and until <= self._start
        while not self._stop.is_set():
            now = to_nanos(self._clock())
            self._collect(now if until is None else min(now, until))
            if until is None or (not history and now >= self._flushed + _TICK):
                self._flush(now)
            ahead = self._ahead(until, now)
            if ahead is None:
                return
            self._stop.wait(max(_BLINK, min(_TICK, ahead)) / SECOND)

    def _ahead(self, until: Nanos | None, now: Nanos) -> int | None:
        """Return for how long there is nothing to do; None: no longer needed here."""
        if until is not None:
            return until - now if until > now else None
        return max(self._way[0].due - now, _BLINK) if self._way else None

    def _collect(self, limit: int) -> None:
        """Take what is due; send it whenever a batch is full."""
        while self._way and self._way[0].due <= limit and not self._stop.is_set():
            self._ready.append(heapq.heappop(self._way))
            if len(self._ready) == _BATCH:
                self._flush(self._flushed)

    def _flush(self, now: Nanos) -> None:
        """Send what was taken."""
        self._flushed = now
        if self._ready:
            self._send(self._ready)
            self._ready = []

    def _send(self, parcels: Sequence[Parcel]) -> None:
        """Send one batch until it is acknowledged; some batches go twice."""
        tally = self._tally
        by_grpc = tally.batches % _GRPC_EVERY == _GRPC_EVERY - 1
        sender = self._senders[-1 if by_grpc else 0]
        spans = [parcel.span for parcel in parcels]
        if not self._insist(sender, spans):
            return
        tally.batches += 1
        if tally.batches % _RESENT_EVERY == _RESENT_EVERY // 2 and self._insist(sender, spans):
            tally.batches += 1
            tally.batches_repeated += 1
        tally.arrived(parcels)
        self._on_progress(tally.progress())

    def _insist(self, sender: Sender, spans: Sequence[ReadableSpan]) -> bool:
        for attempt in range(_PATIENCE):
            if sender.send(spans):
                return True
            if self._stop.wait(2.0**attempt / 2):
                return False
        raise Unavailable(
            f"the receiver did not take {len(spans)} spans in {_PATIENCE} attempts; "
            "is `gnomon serve` running, and are these its OTLP ports?"
        )
