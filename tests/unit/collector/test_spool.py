"""The spool: what it acknowledges survives, is counted once, and is bounded."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest

from collector.queue.database import FILE
from collector.queue.entries import HOUR
from collector.queue.port import Queued, Request
from collector.queue.spool import Spool
from gnomon.clock import Nanos, to_nanos
from gnomon.config import QueueSettings
from gnomon.errors import (
    ConfigError,
    Conflict,
    DiskFull,
    NotFound,
    QueueFull,
    StoreDamaged,
    StoreHeld,
    Unavailable,
)
from tests.spools import ALWAYS, NOW, T0, TRACE_A, TRACE_B, everything, opened, request, row


def test_a_request_comes_back_as_it_was_put(spool):
    put = request("r", traces=(TRACE_A, TRACE_B), received=5, rejected={"invalid_span_id": 2})
    assert spool.put(put).result(5) is True
    (queued,) = everything(spool)
    assert queued.request.payload == put.payload
    assert queued.request.digest == put.digest
    assert (queued.request.signal, queued.request.source) == ("traces", "traces/http/loopback")
    assert list(queued.request.traces) == [TRACE_A, TRACE_B]
    assert queued.request.received_at == NOW
    assert queued.request.received - sum(queued.request.rejected.values()) == 3


def test_a_retry_adds_nothing_whether_queued_stored_or_buried(spool):
    assert spool.put(request("queued")).result(5) is True
    assert spool.put(request("queued")).result(5) is False
    spool.stored(everything(spool))
    assert spool.put(request("queued")).result(5) is False
    spool.put(request("bad")).result(5)
    spool.bury(everything(spool)[0], reason="malformed", detail="d")
    assert spool.put(request("bad")).result(5) is False
    assert everything(spool) == []
    assert row(spool).received == 6


def test_what_was_acknowledged_survives_a_reopening(tmp_path, clock):
    first = opened(tmp_path, clock)
    for name in "abc":
        first.put(request(name)).result(5)
    first.stored([q for q in everything(first) if q.request.payload.startswith(b"a")])
    first.stop(5)
    again = opened(tmp_path, clock)
    assert [q.request.payload[:1] for q in everything(again)] == [b"b", b"c"]
    assert again.put(request("a")).result(5) is False
    assert (row(again).stored, row(again).pending) == (3, 6)
    again.stop(5)


def test_requests_come_in_the_order_of_arrival_of_one_signal_within_the_limit(spool):
    for name in ("a", "b"):
        spool.put(request(name, size=100)).result(5)
    spool.put(request("l", signal="logs", size=100)).result(5)
    spool.put(request("c", size=100)).result(5)
    taken = spool.take(250, 0)
    assert [q.request.payload[:1] for q in taken] == [b"a", b"b"]
    spool.stored(taken)
    assert [q.request.signal for q in spool.take(250, 0)] == ["logs"]


def test_a_request_larger_than_a_batch_is_taken_alone(spool):
    spool.put(request("large", size=1000)).result(5)
    spool.put(request("small", size=10)).result(5)
    assert [q.request.payload[:5] for q in spool.take(50, 0)] == [b"large"]


def test_taking_again_before_it_is_stored_gives_the_same(spool):
    spool.put(request()).result(5)
    assert everything(spool) == everything(spool)


def test_taking_waits_until_there_is_enough(spool):
    taken: list[Queued] = []
    waiting = threading.Thread(target=lambda: taken.extend(spool.take(15, 30)))
    waiting.start()
    spool.put(request("a")).result(5)
    spool.put(request("b")).result(5)
    waiting.join(10)
    assert not waiting.is_alive()
    assert taken


def test_a_full_queue_says_so_at_once_and_has_room_again_when_stored(tmp_path, clock):
    spool = opened(tmp_path, clock, max_bytes=2000)
    spool.put(request("a", size=1200)).result(5)
    with pytest.raises(QueueFull, match="GNOMON_QUEUE__MAX_BYTES"):
        spool.put(request("b", size=1200))
    spool.stored(everything(spool))
    assert spool.put(request("b", size=1200)).result(5) is True
    spool.stop(5)


def test_the_bound_holds_after_a_reopening_and_counts_dead_letters(tmp_path, clock):
    first = opened(tmp_path, clock, max_bytes=2000)
    first.put(request("a", size=1200)).result(5)
    first.bury(everything(first)[0], reason="malformed", detail="d")
    first.stop(5)
    again = opened(tmp_path, clock, max_bytes=2000)
    with pytest.raises(QueueFull, match="dead letters"):
        again.put(request("b", size=1200))
    again.books.drop(again.books.dead_letters()[0].id)
    assert again.put(request("b", size=1200)).result(5) is True
    again.stop(5)


def test_a_retry_gives_the_room_it_reserved_back(tmp_path, clock):
    spool = opened(tmp_path, clock, max_bytes=2000)
    for _ in range(5):
        spool.put(request("a", size=1000)).result(5)
    assert spool.put(request("b", size=1000)).result(5) is True
    spool.stop(5)


def test_a_full_disk_is_told_and_leaves_nothing_half_written(spool, tmp_path):
    spool.put(request("before")).result(5)

    def limit(pages: int) -> None:
        committer = spool._opened().committer
        committer.submit(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchall())

    limit(1)
    failing = [spool.put(request(f"x{n}", size=200_000)) for n in range(3)]
    for future in failing:
        with pytest.raises(DiskFull, match=FILE):
            future.result(5)
    assert "no space left" in (spool.problem() or "")
    assert [q.request.payload[:6] for q in everything(spool)] == [b"before"]
    limit(1_000_000)
    assert spool.put(request("x0", size=200_000)).result(5) is True
    assert spool.problem() is None
    assert row(spool).received == 6


def test_a_cancelled_request_is_not_kept(spool):
    held = threading.Event()
    spool._opened().committer.submit(lambda _db: held.wait(10))
    future = spool.put(request("cancelled"))
    assert future.cancel()
    kept = spool.put(request("kept"))
    held.set()
    assert kept.result(5) is True
    assert [q.request.payload[:4] for q in everything(spool)] == [b"kept"]
    assert spool.put(request("cancelled")).result(5) is True


def test_a_refusal_inside_a_transaction_harms_no_one_else(spool):
    held = threading.Event()
    committer = spool._opened().committer
    committer.submit(lambda _db: held.wait(10))
    kept = spool.put(request("kept"))
    held.set()
    with pytest.raises(NotFound):
        spool.books.resend(12345)
    assert kept.result(5) is True


def test_a_request_refused_as_a_whole_is_counted_once(spool):
    refused = request("garbage", received=1, rejected={"undecodable": 1})
    assert spool.put(refused).result(5) is True
    assert spool.put(refused).result(5) is False
    assert row(spool).rejected == {"undecodable": 1}
    assert everything(spool) == []


def test_a_payload_that_holds_less_than_it_says_is_a_mistake(spool):
    wrong = Request(
        signal="traces", source="s", payload=b"", digest=b"d", received=2, received_at=Nanos(NOW)
    )
    with pytest.raises(ValueError, match="2 items"):
        spool.put(wrong)


def test_the_ledger_has_a_row_for_each_source_and_hour_of_arrival(spool):
    spool.put(request("a", at=NOW)).result(5)
    spool.put(request("b", at=NOW + HOUR)).result(5)
    spool.put(request("c", at=NOW + HOUR, source="traces/grpc/loopback")).result(5)
    hours = [(r.hour, r.source, r.received) for r in spool.books.ledger(*ALWAYS)]
    begin = to_nanos(T0.replace(minute=0))
    assert hours == [
        (begin + HOUR, "traces/grpc/loopback", 3),
        (begin + HOUR, "traces/http/loopback", 3),
        (begin, "traces/http/loopback", 3),
    ]
    assert [r.hour for r in spool.books.ledger(Nanos(begin), Nanos(begin + HOUR))] == [begin]


def test_storing_twice_counts_once(spool):
    spool.put(request()).result(5)
    batch = everything(spool)
    spool.stored(batch)
    spool.stored(batch)
    assert (row(spool).stored, row(spool).pending) == (3, 0)


def test_the_oldest_pending_request_is_known(spool):
    assert spool.books.oldest_pending() is None
    spool.put(request("a", at=NOW - 5)).result(5)
    spool.put(request("b", at=NOW)).result(5)
    assert spool.books.oldest_pending() == NOW - 5


def test_a_dead_letter_can_be_listed_shown_resent_and_dropped(spool):
    for name in ("bad", "worse"):
        spool.put(request(name, traces=(TRACE_A,))).result(5)
    for queued in everything(spool):
        spool.bury(queued, reason="refused_by_store", detail="Code: 42")
    assert row(spool).rejected == {"dead_letter": 6}
    first, second = spool.books.dead_letters()
    assert [letter.id for letter in spool.books.dead_letters(after=first.id)] == [second.id]
    assert [letter.id for letter in spool.books.dead_letters(limit=1)] == [first.id]
    shown, payload = spool.books.dead_letter(first.id)
    assert shown == first
    assert payload.startswith(b"bad")
    assert (first.reason, first.detail, first.items, first.size) == (
        "refused_by_store",
        "Code: 42",
        3,
        10,
    )
    spool.books.resend(first.id)
    assert (row(spool).pending, row(spool).rejected) == (3, {"dead_letter": 3})
    (back,) = everything(spool)
    assert list(back.request.traces) == [TRACE_A]
    spool.stored([back])
    spool.books.drop(second.id)
    assert (row(spool).stored, row(spool).rejected) == (3, {"dead_letter": 3})
    assert spool.books.dead_letters() == []


def test_a_dead_letter_that_is_not_there_is_not_found(spool):
    for ask in (spool.books.dead_letter, spool.books.resend, spool.books.drop):
        with pytest.raises(NotFound, match="no dead letter 7"):
            ask(7)


def test_a_body_the_receiver_failed_on_is_kept_and_counted_once(spool):
    failed = request("raw", received=1, rejected={"internal": 1})
    assert spool.bury_raw(failed, b"the body", detail="KeyError").result(5) is True
    assert spool.bury_raw(failed, b"the body", detail="KeyError").result(5) is False
    (letter,) = spool.books.dead_letters()
    assert spool.books.dead_letter(letter.id)[1] == b"the body"
    assert row(spool).rejected == {"internal": 1}
    with pytest.raises(Conflict, match="post its body"):
        spool.books.resend(letter.id)
    spool.books.drop(letter.id)
    assert row(spool).rejected == {"internal": 1}


def test_a_queue_that_was_stopped_can_be_started_again(spool):
    spool.put(request("a")).result(5)
    spool.stop(5)
    spool.start()
    assert len(everything(spool)) == 1
    began = time.monotonic()
    spool.take(1 << 20, 0.2)
    assert time.monotonic() - began >= 0.1, "it waits for more again"


def test_a_digest_is_forgotten_when_its_time_is_over_but_never_while_it_waits(tmp_path, clock):
    spool = opened(tmp_path, clock, remember=timedelta(hours=1))
    spool.put(request("stored")).result(5)
    spool.stored(everything(spool))
    spool.put(request("waiting")).result(5)
    later = NOW + 2 * HOUR
    clock.now = T0 + timedelta(hours=2)
    spool.put(request("makes it tidy up", at=later)).result(5)
    assert spool.put(request("stored", at=later)).result(5) is True
    assert spool.put(request("waiting", at=later)).result(5) is False
    spool.stop(5)


def test_the_file_is_given_back_when_the_queue_is_empty(spool, tmp_path):
    for number in range(40):
        spool.put(request(f"r{number}", size=4 << 20)).result(10)
    while batch := spool.take(32 << 20, 0):
        spool.stored(batch)
    for number in range(20):
        spool.put(request(f"tick{number}")).result(5)
        spool.stored(everything(spool))
    spool.stop(5)
    assert (tmp_path / FILE).stat().st_size < 100 << 20


def test_a_second_process_is_told_which_one_has_the_queue(spool, tmp_path):
    code = (
        "import sys; from pathlib import Path; from collector.queue.spool import Spool;"
        "from gnomon.clock import utc_now; from gnomon.config import QueueSettings;"
        "from gnomon.errors import StoreHeld\n"
        "try: Spool(Path(sys.argv[1]), QueueSettings(), clock=utc_now).start()\n"
        "except StoreHeld as error: print(error)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    assert f"process {os.getpid()}" in told
    assert "--data" in told


def test_a_failed_start_lets_go_of_the_directory(tmp_path, clock):
    (tmp_path / FILE).write_bytes(b"this is no database" * 1000)
    with pytest.raises(StoreDamaged, match="Move the file away"):
        opened(tmp_path, clock)
    (tmp_path / FILE).unlink()
    opened(tmp_path, clock).stop(5)


def test_a_file_of_a_newer_version_is_refused(tmp_path, clock):
    opened(tmp_path, clock).stop(5)
    db = sqlite3.connect(tmp_path / FILE)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(ConfigError, match="newer Gnomon"):
        opened(tmp_path, clock)


def test_a_closed_queue_takes_nothing(tmp_path, clock):
    spool = Spool(tmp_path, QueueSettings(), clock=clock)
    with pytest.raises(Unavailable):
        spool.put(request())
    assert spool.problem() == "not open"
    spool.start()
    spool.stop(5)
    spool.stop(5)
    with pytest.raises(Unavailable):
        spool.put(request())


def test_stopping_commits_what_was_handed_in(tmp_path, clock):
    spool = opened(tmp_path, clock)
    futures = [spool.put(request(f"r{n}")) for n in range(200)]
    spool.stop(10)
    assert all(future.result(0) for future in futures)
    again = opened(tmp_path, clock)
    assert len(everything(again)) == 200
    again.stop(5)


def test_no_directory_can_be_made_is_said_clearly(clock, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((ConfigError, StoreHeld)):
        opened(tmp_path / "file", clock)
