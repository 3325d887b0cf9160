"""The traffic: a history at once, live requests in their time, and disorder that loses nothing."""

import datetime as dt
import threading
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan

from gnomon.cli.demo.schedule import HISTORY_RUNS
from gnomon.cli.demo.tally import Progress, Totals
from gnomon.cli.demo.traffic import Traffic, run_traffic
from gnomon.clock import to_nanos
from gnomon.errors import Unavailable

START = dt.datetime(2026, 11, 2, 12, tzinfo=dt.UTC)


class FakeTime(threading.Event):
    """A clock and a stop signal: waiting moves the clock, and nothing else takes time."""

    def __init__(self, stop_after: dt.timedelta | None = None) -> None:
        super().__init__()
        self.now = START
        self.waited = dt.timedelta(0)
        self._stop_after = stop_after

    def clock(self) -> dt.datetime:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.now += dt.timedelta(seconds=timeout)
        self.waited += dt.timedelta(seconds=timeout)
        if self._stop_after is not None and self.waited >= self._stop_after:
            self.set()
        return self.is_set()


class Receiver:
    """Remembers what it was sent, and when; refuses the first `refusals` requests."""

    def __init__(self, clock: Callable[[], dt.datetime], refusals: int = 0) -> None:
        self.batches: list[tuple[dt.datetime, list[ReadableSpan]]] = []
        self.closed = False
        self._clock = clock
        self._refusals = refusals

    def send(self, spans: Sequence[ReadableSpan]) -> bool:
        if self._refusals:
            self._refusals -= 1
            return False
        self.batches.append((self._clock(), list(spans)))
        return True

    def close(self) -> None:
        self.closed = True

    def spans(self) -> list[ReadableSpan]:
        return [span for _, batch in self.batches for span in batch]

    def requests(self) -> list[bytes]:
        return [encode_spans(batch).SerializeToString() for _, batch in self.batches]


def sent(
    *,
    runs: int | None,
    seed: int = 7,
    speed: float = 1.0,
    stop_after: dt.timedelta | None = None,
    refusals: int = 0,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> tuple[Totals, Receiver, FakeTime]:
    time = FakeTime(stop_after)
    receiver = Receiver(time.clock, refusals)
    traffic = Traffic(
        [receiver],
        seed=seed,
        start=START,
        clock=time.clock,
        stop=time,
        on_progress=on_progress,
    )
    return traffic.run(runs=runs, speed=speed), receiver, time


@pytest.fixture(scope="module")
def history() -> tuple[Totals, Receiver, FakeTime]:
    return sent(runs=HISTORY_RUNS)


def identity(span: ReadableSpan) -> tuple[int, int]:
    return span.context.trace_id, span.context.span_id


def test_a_history_is_sent_at_once_and_lies_in_the_past(
    history: tuple[Totals, Receiver, FakeTime],
) -> None:
    totals, receiver, time = history
    assert time.waited == dt.timedelta(0)
    assert totals.runs == HISTORY_RUNS == len(totals.truths)
    begins = [truth.started_at for truth in totals.truths.values()]
    assert min(begins) >= to_nanos(START - dt.timedelta(hours=24))
    assert max(span.end_time or 0 for span in receiver.spans()) < to_nanos(START)


def test_every_span_of_every_run_arrives(history: tuple[Totals, Receiver, FakeTime]) -> None:
    totals, receiver, _ = history
    seen = Counter(f"{trace:032x}" for trace, _ in {identity(s) for s in receiver.spans()})
    assert seen == {run_id: truth.counts.spans for run_id, truth in totals.truths.items()}
    assert totals.spans == sum(seen.values())


def test_totals_account_for_everything_that_was_sent(
    history: tuple[Totals, Receiver, FakeTime],
) -> None:
    totals, receiver, _ = history
    assert totals.batches == len(receiver.batches)
    doubled = [
        batch
        for (_, batch), (_, after) in zip(receiver.batches, receiver.batches[1:], strict=False)
        if batch == after
    ]
    assert totals.batches_repeated == len(doubled) == 2
    once_more = sum(map(len, doubled))
    assert len(receiver.spans()) == totals.spans + totals.spans_repeated + once_more


def test_there_is_disorder_of_every_kind(history: tuple[Totals, Receiver, FakeTime]) -> None:
    totals, receiver, _ = history
    assert totals.batches_repeated >= 1
    assert totals.spans_repeated > 50
    assert totals.spans_late >= 5
    first: set[int] = set()
    root_first = 0
    for span in receiver.spans():
        root_first += span.parent is None and span.context.trace_id not in first
        first.add(span.context.trace_id)
    assert root_first >= 5


def test_late_spans_come_in_another_request_than_their_run(
    history: tuple[Totals, Receiver, FakeTime],
) -> None:
    totals, receiver, _ = history
    places: dict[int, set[int]] = {}
    for place, (_, batch) in enumerate(receiver.batches):
        for span in batch:
            places.setdefault(span.context.trace_id, set()).add(place)
    assert sum(max(found) - min(found) >= 1 for found in places.values()) >= totals.spans_late


def test_a_batch_holds_at_most_256_spans(history: tuple[Totals, Receiver, FakeTime]) -> None:
    _, receiver, _ = history
    sizes = [len(batch) for _, batch in receiver.batches]
    assert max(sizes) == 256


def test_the_same_seed_and_start_send_the_same_requests() -> None:
    one, other = sent(runs=80)[1], sent(runs=80)[1]
    assert one.requests() == other.requests()
    assert one.requests() != sent(runs=80, seed=8)[1].requests()


def test_live_spans_are_sent_when_they_end_and_never_before() -> None:
    totals, receiver, time = sent(runs=HISTORY_RUNS + 20)
    assert totals.runs == HISTORY_RUNS + 20
    live = [
        (when, span)
        for when, batch in receiver.batches
        for span in batch
        if (span.start_time or 0) >= to_nanos(START)
    ]
    assert len({span.context.trace_id for _, span in live}) == 20
    assert all((span.end_time or 0) <= to_nanos(when) for when, span in live)
    waits = sorted(to_nanos(when) - (span.end_time or 0) for when, span in live)
    assert waits[len(waits) // 2] <= 1_000_000_000
    assert dt.timedelta(seconds=110) < time.waited < dt.timedelta(seconds=200)


def test_a_run_in_progress_is_visible_before_its_root_has_ended() -> None:
    _, receiver, _ = sent(runs=HISTORY_RUNS + 5)
    arrived: dict[int, dict[bool, dt.datetime]] = {}
    for when, batch in receiver.batches:
        for span in batch:
            if (span.start_time or 0) >= to_nanos(START):
                arrived.setdefault(span.context.trace_id, {}).setdefault(span.parent is None, when)
    assert any(times[False] < times[True] for times in arrived.values())


def test_speed_sets_how_many_requests_come_in() -> None:
    minute = dt.timedelta(minutes=1)
    slow, _, _ = sent(runs=None, speed=1, stop_after=minute)
    fast, _, _ = sent(runs=None, speed=5, stop_after=minute)
    assert 6 <= slow.runs - HISTORY_RUNS <= 10
    assert 35 <= fast.runs - HISTORY_RUNS <= 50


def test_a_stop_ends_it_and_only_complete_runs_are_vouched_for() -> None:
    totals, receiver, _ = sent(runs=None, stop_after=dt.timedelta(seconds=31))
    per_run = Counter(span.context.trace_id for span in receiver.spans())
    for run_id, truth in totals.truths.items():
        assert per_run[int(run_id, 16)] >= truth.counts.spans
    assert totals.runs < len(per_run)


def test_progress_tells_the_phase() -> None:
    seen: list[Progress] = []
    sent(runs=HISTORY_RUNS + 2, on_progress=seen.append)
    assert [seen[0].phase, seen[-1].phase] == ["history", "live"]
    assert [one.runs for one in seen] == sorted(one.runs for one in seen)
    assert seen[-1].runs == HISTORY_RUNS + 2
    assert seen[0].history_runs == HISTORY_RUNS


def test_a_busy_receiver_gets_the_batch_again() -> None:
    totals, receiver, time = sent(runs=10, refusals=2)
    assert totals.runs == 10
    assert time.waited == dt.timedelta(seconds=1.5)
    assert len({identity(span) for span in receiver.spans()}) == totals.spans


def test_a_receiver_that_takes_nothing_is_an_error_with_a_mend() -> None:
    with pytest.raises(Unavailable, match="gnomon serve"):
        sent(runs=10, refusals=99)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("inf"), float("nan")])
def test_a_speed_that_means_nothing_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        run_traffic(
            "http://127.0.0.1:9",
            seed=1,
            runs=1,
            speed=speed,
            start=START,
            clock=lambda: START,
            stop=threading.Event(),
            on_progress=lambda _: None,
        )
