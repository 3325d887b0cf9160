"""What the doctor says of a running Gnomon's books, and that each fault has its mend."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

from gnomon.cli.doctor_running import LOOKS
from gnomon.cli.finding import Finding

ASIDE = {"trace_id": "ab" * 16, "error": "RecursionError", "since": "2026-01-01T00:00:00Z"}


class Answers:
    """An API that answers from a table."""

    def __init__(self, letters: int = 0, **ledger: Any) -> None:
        self._letters = letters
        self._ledger = {
            "balanced": True,
            "totals": {"rejected": {}},
            "oldest_pending": None,
            "unread": [],
            "unread_traces": 0,
            **ledger,
        }

    def get(self, path: str, **params: object) -> Any:
        assert path == "/v1/ledger"
        return self._ledger

    def items(self, path: str, *, limit: int) -> Iterator[Any]:
        assert path == "/v1/dead-letters"
        yield from [{"reason": "store_refused"}] * min(self._letters, limit)


def said(look: str, answers: Answers) -> dict[str, Finding]:
    return {finding.subject: finding for finding in LOOKS[look](answers)}  # type: ignore[arg-type]


def test_clean_books_are_well_in_every_respect() -> None:
    found = said("ledger", Answers()) | said("dead letters", Answers())
    assert {name: finding.verdict for name, finding in found.items()} == dict.fromkeys(
        ("ledger", "pending", "unread traces", "dead letters"), "ok"
    )


def test_traces_set_aside_are_counted_named_and_must_be_mended() -> None:
    found = said("ledger", Answers(unread=[ASIDE] * 3, unread_traces=3))["unread traces"]
    assert found.verdict == "bad"
    assert "3 stored and set aside" in found.found
    assert f"{ASIDE['trace_id']} (RecursionError)" in found.found
    assert "TracesUnread" in found.mend


@pytest.mark.parametrize(("waited", "verdict"), [(5, "ok"), (90, "bad")])
def test_what_waits_for_the_store_is_late_after_a_minute(waited: int, verdict: str) -> None:
    came = (dt.datetime.now(dt.UTC) - dt.timedelta(seconds=waited)).isoformat()
    found = said("ledger", Answers(oldest_pending=came))["pending"]
    assert found.verdict == verdict
    assert ("IngestLag" in found.mend) == (verdict == "bad")


def test_rejections_and_an_unbalanced_ledger_are_told_with_their_mend() -> None:
    rejected = said("ledger", Answers(totals={"rejected": {"too_large": 2}}))["ledger"]
    assert (rejected.verdict, rejected.found) == (
        "warning",
        "rejected in the last 24 h: 2 too_large",
    )
    assert "IngestRejecting" in rejected.mend
    assert said("ledger", Answers(balanced=False))["ledger"].verdict == "bad"


def test_dead_letters_wait_for_a_person() -> None:
    found = said("dead letters", Answers(letters=2))["dead letters"]
    assert found.found == "2 wait for a decision: store_refused"
    assert "gnomon dead-letters list" in found.mend
    assert said("dead letters", Answers(letters=900))["dead letters"].found.startswith(
        "200 and more"
    )
