"""What the doctor says of a directory and of a queue at rest."""

import shutil
from pathlib import Path

import pytest

from collector.identity import ensure_pair
from collector.queue.database import FILE, Resting, at_rest
from gnomon.cli.doctor import examine
from gnomon.cli.finding import Finding
from gnomon.clock import utc_now
from gnomon.errors import StoreDamaged
from tests.spools import Hands, everything, opened, request
from tests.stores import migrated_store

NOBODY = "http://127.0.0.1:9"


def found_of(subject: str, data: Path) -> Finding:
    found = examine(data=data, store=None, config_file=None, url=NOBODY)
    return next(finding for finding in found if finding.subject == subject)


def queue_of(data: Path) -> Finding:
    return found_of("queue", data)


def test_what_waits_is_counted_and_the_file_is_left_as_it_was(tmp_path: Path) -> None:
    spool = opened(tmp_path, Hands())
    spool.put(request("one", received=3)).result(10)
    spool.put(request("two", received=4)).result(10)
    spool.stop(10)
    before = (tmp_path / FILE).read_bytes()
    assert at_rest(tmp_path / FILE) == Resting(waiting=7, dead_letters=0, stored=0, store_id=None)
    assert queue_of(tmp_path).verdict == "ok"
    assert "7 spans and log records wait" in queue_of(tmp_path).found
    assert (tmp_path / FILE).read_bytes() == before


def test_a_damaged_file_is_found_before_a_start_refuses_it(tmp_path: Path) -> None:
    spool = opened(tmp_path, Hands())
    spool.put(request("one", size=200_000)).result(10)
    spool.stop(10)
    path = tmp_path / FILE
    content = bytearray(path.read_bytes())
    content[16_384:32_768] = b"\xff" * 16_384
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match="Move the file away"):
        at_rest(path)
    assert queue_of(tmp_path).verdict == "bad"
    path.write_bytes(b"no database")
    assert "Move the file away" in queue_of(tmp_path).found


def test_a_queue_that_was_never_made_is_no_fault(tmp_path: Path) -> None:
    assert queue_of(tmp_path).verdict == "ok"
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("data", ["/dev/null", "x" * 5000, "/dev/null/below"])
def test_the_doctor_survives_a_directory_that_is_none(data: str) -> None:
    findings = examine(data=Path(data), store=None, config_file=None, url=NOBODY)
    found = next(finding for finding in findings if finding.subject == "data")
    assert (found.verdict, found.mend) == ("bad", "choose a directory with --data or GNOMON_DATA")


def test_a_store_that_the_queue_did_not_feed_is_found_before_a_start_refuses_it(
    tmp_path: Path,
) -> None:
    with migrated_store("embedded", tmp_path) as store:
        spool = opened(tmp_path, Hands())
        ensure_pair(store, spool.books, clock=utc_now)
        spool.put(request("one", received=3)).result(10)
        spool.stored(everything(spool))
        spool.stop(10)
    assert found_of("store", tmp_path).verdict == "ok"
    shutil.rmtree(tmp_path / "clickhouse")
    lost = found_of("store", tmp_path)
    assert lost.verdict == "bad"
    assert "the ledger counts 3 stored spans and log records, but this store is new" in lost.found
    with migrated_store("embedded", tmp_path):
        pass
    assert found_of("store", tmp_path).verdict == "bad"
    shutil.rmtree(tmp_path / "clickhouse")
    (tmp_path / "clickhouse").mkdir()
    assert found_of("store", tmp_path).verdict == "bad"


def test_an_empty_file_of_the_queue_is_one_that_a_start_fills(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    assert queue_of(tmp_path).verdict == "ok"
