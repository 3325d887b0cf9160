"""Promises 1 and 2 under kill -9: three times here, twenty times in `make soak`."""

from pathlib import Path

import pytest

from tests.bench.soak_kills import soak


def test_promise_1_three_kills_lose_no_acknowledged_span_and_double_none(tmp_path: Path) -> None:
    outcome = soak(tmp_path, kills=3, seed=3)
    assert outcome.right, outcome


@pytest.mark.soak
def test_promise_1_twenty_kills_lose_no_acknowledged_span_and_double_none(tmp_path: Path) -> None:
    outcome = soak(tmp_path, kills=20, seed=20)
    assert outcome.right, outcome
