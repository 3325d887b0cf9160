"""Promises 1 and 2 of queue and writer alone under kill -9 (of the whole process: test_kill_process)."""

from pathlib import Path

import pytest

from tests.bench.soak_kills import soak


@pytest.mark.soak
def test_promise_1_twenty_kills_lose_no_acknowledged_span_and_double_none(tmp_path: Path) -> None:
    outcome = soak(tmp_path, kills=20, seed=20)
    assert outcome.right, outcome
