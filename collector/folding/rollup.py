"""From stored spans to runs: the traces that changed are read, folded, and written again."""

import datetime as dt
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from traceback import format_exception
from typing import Protocol

import structlog

from collector.folding.messages import FoldFailed
from collector.folding.set_aside import Aside, SetAside
from collector.queue.port import Touched, TouchedTraces
from gnomon.child import ChildDied
from gnomon.clock import Clock, Nanos, to_nanos
from gnomon.errors import GnomonError, StoreRefused, Unavailable
from gnomon.service import Background
from gnomon.tracing import span

log = structlog.get_logger(__name__)

SECOND = 1_000_000_000

TRACES = 2_000
"""Traces taken from the touched ones at a time."""

LOT_SPANS = 4_000
"""Spans that are folded together; a larger trace is folded alone."""

PACE = 5_000
"""Spans a second at which one trace may be folded again and again while it grows."""

_IDLE = 0.2
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_STUCK_SECONDS = 300.0
_SET_ASIDE = 3_600 * SECOND
_MEMORY_LIMIT = 241
_REMEMBERED = 20_000
_LAST_SECONDS = 2.0


class Folding(Protocol):
    """What reads some traces, folds them and writes what came out."""

    def begin(self) -> None:
        """Be ready for a pass; raises Unavailable when that is not possible."""

    def close(self, timeout: float) -> None:
        """Let go of what folds; there will be no further pass."""

    def settle(self, traces: Sequence[Touched], now: Nanos) -> set[str]:
        """Settle runs that need no reading for it; return their traces, which are done."""

    def span_counts(self, traces: Sequence[str]) -> dict[str, int]:
        """Return how many spans each of these traces has."""

    def shares(self, traces: Sequence[Touched]) -> Sequence[Sequence[Touched]]:
        """Return the traces in shares that can be folded at the same time."""

    def fold(self, traces: Sequence[Touched], now: Nanos) -> dict[str, Nanos]:
        """Fold whole traces of one share; return which of them to fold again, and when."""


class Meter(Protocol):
    """What the roll-up tells about itself."""

    def run_visible(self, seconds: float) -> None:
        """A span is visible in its run so long after it arrived."""

    def pass_failed(self, code: str) -> None:
        """A pass failed and will be tried again."""

    def set_aside(self, code: str) -> None:
        """One trace cannot be folded; it is tried again in an hour."""


class Silent:
    """A meter that tells nobody."""

    def run_visible(self, seconds: float) -> None:
        """Say nothing."""

    def pass_failed(self, code: str) -> None:
        """Say nothing."""

    def set_aside(self, code: str) -> None:
        """Say nothing."""


class RollUp:
    """One thread that keeps steps and runs in step with the spans."""

    name = "rollup"

    def __init__(
        self, folding: Folding, touched: TouchedTraces, *, clock: Clock, meter: Meter | None = None
    ) -> None:
        self._folding = folding
        self._touched = touched
        self._clock = clock
        self._meter: Meter = meter or Silent()
        self._lot_spans = LOT_SPANS
        self._aside = Aside()
        self._paces: dict[str, Nanos] = {}
        self._pacing = threading.Lock()
        self._thread = Background(self.name, self._run)
        self._failure: str | None = None
        self._busy_since: float | None = None
        self._complete: dt.datetime | None = None

    def start(self) -> None:
        """Begin with what was touched before the process stopped last.

        All of it is tried at once, so that what was set aside is known again at once.
        """
        self._touched.wake(to_nanos(self._clock()))
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Finish the lot in work; what is not folded stays touched."""
        self._thread.stop(timeout)
        self._folding.close(_LAST_SECONDS)

    def problem(self) -> str | None:
        """Return why runs are not brought up to date, or None."""
        since = self._busy_since
        if since is not None and time.monotonic() - since > _STUCK_SECONDS:
            return f"one pass has been in work for {time.monotonic() - since:.0f} s"
        return self._thread.problem() or self._failure

    def set_aside(self) -> Sequence[SetAside]:
        """Return the traces that cannot be folded, the longest waiting first."""
        return self._aside.listed()

    def watermark(self) -> dt.datetime | None:
        """Return the start of the last finished pass: no run is written as of before it any more."""
        return self._complete

    def pass_once(self) -> bool:
        """Fold what is due; tell whether there was anything."""
        self._folding.begin()
        began = self._clock()
        now = to_nanos(began)
        due = self._touched.due(now, TRACES)
        ready = self._paced(due, now)
        left = self._settle(ready, now)
        counts = self._folding.span_counts([trace.trace_id for trace in left]) if left else {}
        if not self._fold_shares(self._folding.shares(left), counts):
            return False
        self._complete = began
        return bool(ready)

    def _fold_shares(self, shares: Sequence[Sequence[Touched]], counts: Mapping[str, int]) -> bool:
        """Fold shares side by side; tell whether there was the time to finish."""
        if len(shares) <= 1:
            return all(self._fold_share(share, counts) for share in shares)
        with ThreadPoolExecutor(len(shares), self.name) as pool:
            return all(pool.map(self._fold_share, shares, [counts] * len(shares)))

    def _fold_share(self, share: Sequence[Touched], counts: Mapping[str, int]) -> bool:
        """Fold a share, lot by lot; tell whether there was the time to finish."""
        for lot in lots(share, counts, self._lot_spans):
            if self._thread.stopping.is_set():
                return False
            carries = (trace.trace_id for trace in lot)
            with span("rollup.lot", carries=carries, traces=len(lot)):
                self._fold(lot)
            self._remember(lot, counts)
        return True

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._thread.stopping.is_set():
            self._busy_since = time.monotonic()
            try:
                wait = 0.0 if self.pass_once() else _IDLE
            except Exception as error:  # noqa: BLE001 - shown by /readyz, and tried again
                self._failed(error)
                wait, pause = pause, min(pause * 2, _LONGEST_PAUSE)
            else:
                pause = _FIRST_PAUSE
                self._recovered()
            self._busy_since = None
            self._thread.stopping.wait(wait)

    def _settle(self, ready: Sequence[Touched], now: Nanos) -> list[Touched]:
        """Settle what can be without reading; return the other traces."""
        done = self._folding.settle(ready, now)
        if done:
            self._touched.folded([trace for trace in ready if trace.trace_id in done], {})
        return [trace for trace in ready if trace.trace_id not in done]

    def _fold(self, lot: Sequence[Touched], *, again: bool = False) -> None:
        """Fold a lot; when it cannot be, find the trace that is to blame and set it aside."""
        now = to_nanos(self._clock())
        try:
            due = self._folding.fold(lot, now)
        except Unavailable:
            raise
        except Exception as error:
            if isinstance(error, GnomonError) and not isinstance(error, StoreRefused):
                raise
            if isinstance(error, ChildDied):
                log.warning("fold_process_died", traces=len(lot), detail=str(error))
            self._find_the_bad_one(lot, error, now, again=again)
            return
        self._touched.folded(lot, due)
        self._aside.folded(trace.trace_id for trace in lot)
        seen = to_nanos(self._clock())
        for trace in lot:
            if trace.first_received:
                self._meter.run_visible(max(0, seen - trace.first_received) / SECOND)

    def _find_the_bad_one(
        self, lot: Sequence[Touched], error: Exception, now: Nanos, *, again: bool
    ) -> None:
        if len(lot) > 1:
            middle = len(lot) // 2
            self._fold(lot[:middle])
            self._fold(lot[middle:])
            return
        if isinstance(error, ChildDied) and not again:
            # Somebody else may have ended the process: one trace is to blame if it dies twice.
            self._fold(lot, again=True)
            return
        code = _code(error)
        self._aside.add(lot[0].trace_id, code, now)
        self._meter.set_aside(code)
        told = error.trace if isinstance(error, FoldFailed) else "".join(format_exception(error))
        log.error("trace_set_aside", trace_id=lot[0].trace_id, code=code, error=told)
        self._touched.folded(lot, {lot[0].trace_id: Nanos(now + _SET_ASIDE)})

    def _paced(self, due: Sequence[Touched], now: Nanos) -> list[Touched]:
        """Put off large traces that were folded a moment ago; return the others."""
        early = {
            trace.trace_id: at for trace in due if (at := self._paces.get(trace.trace_id, 0)) > now
        }
        if early:
            put_off = [trace for trace in due if trace.trace_id in early]
            self._touched.folded(put_off, {trace: Nanos(at) for trace, at in early.items()})
        return [trace for trace in due if trace.trace_id not in early]

    def _remember(self, lot: Sequence[Touched], counts: Mapping[str, int]) -> None:
        now = to_nanos(self._clock())
        with self._pacing:
            if len(self._paces) > _REMEMBERED:
                self._paces = {trace: at for trace, at in self._paces.items() if at > now}
            for trace in lot:
                self._paces[trace.trace_id] = Nanos(
                    now + counts.get(trace.trace_id, 0) * SECOND // PACE
                )

    def _failed(self, error: Exception) -> None:
        if isinstance(error, Unavailable) and error.context.get("code") == _MEMORY_LIMIT:
            self._lot_spans = max(1, self._lot_spans // 2)
        code = _code(error)
        self._meter.pass_failed(code)
        if self._failure is None:
            log.warning("rollup_waits", code=code, detail=str(error)[:500])
        self._failure = f"runs are not brought up to date: {error}"

    def _recovered(self) -> None:
        if self._failure is not None:
            log.info("rollup_resumed")
        self._failure = None


def _code(error: Exception) -> str:
    match error:
        case GnomonError():
            return error.code
        case FoldFailed():
            return error.kind
        case _:
            return type(error).__name__


def lots(
    traces: Sequence[Touched], counts: Mapping[str, int], spans: int
) -> Iterator[Sequence[Touched]]:
    """Yield traces together up to a number of spans; a larger one comes alone."""
    lot: list[Touched] = []
    size = 0
    for trace in traces:
        count = counts.get(trace.trace_id, 0)
        if lot and size + count > spans:
            yield lot
            lot, size = [], 0
        lot.append(trace)
        size += count
    if lot:
        yield lot
