"""What the receiver failed on lies in the spool until a person decides."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.queue.spool import Spool
from collector.receiving.intake import Intake, Parcel
from gnomon.clock import Nanos, from_nanos
from gnomon.config import QueueSettings, Settings
from gnomon.errors import Conflict
from tests import otlp

BODY = otlp.traces(otlp.span()).SerializeToString()


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    opened = Spool(tmp_path, QueueSettings(), clock=lambda: from_nanos(otlp.NOW))
    opened.start()
    yield opened
    opened.stop(10)


def take(spool: Spool) -> int:
    intake = Intake(spool, Settings(), lambda: from_nanos(otlp.NOW), lambda _t, _r: None)
    parcel = Parcel(
        signal="traces",
        transport="http",
        sender="loopback",
        body=BODY,
        encoding="identity",
        is_json=False,
    )
    with intake.hold() as hold:
        taken = intake.take(parcel, hold)
    assert taken.done is not None
    taken.done.result(10)
    return taken.answer.status


def test_promise_2_a_body_we_failed_on_is_counted_kept_and_can_be_taken_later(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> None:
        raise ZeroDivisionError("a bug")

    with monkeypatch.context() as patched:
        patched.setattr(Intake, "_inspected", broken)
        assert [take(spool), take(spool)] == [500, 500]

    (letter,) = spool.books.dead_letters()
    assert (letter.reason, letter.items, letter.size) == ("internal", 1, len(BODY))
    assert "a bug" in letter.detail
    assert spool.books.dead_letter(letter.id)[1] == BODY
    with pytest.raises(Conflict, match="never inspected"):
        spool.books.resend(letter.id)

    assert take(spool) == 200, "the same body is no retry of the one we failed on"
    (row,) = spool.books.ledger(Nanos(0), Nanos(2**63 - 1))
    assert (row.received, row.rejected, row.pending) == (2, {"internal": 1}, 1)
    spool.books.drop(letter.id)
    assert spool.books.dead_letters() == []
