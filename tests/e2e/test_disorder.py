"""Promise 3: order, repetition and delay change no number."""

import time
from pathlib import Path
from typing import Any

import pytest

from gnomon.config import Settings
from gnomon.store import open_store
from tests import corpus, samples
from tests.serving import Serving, serving

pytestmark = pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)

CONFIG = "runs: {quiet_period: 500ms}\n"
ARRIVAL = {"revision", "settled_at", "last_received_at", "folded_at", "state"}
"""What tells when something came, not what it was."""


def outcome(
    place: Path, requests: list[tuple[str, bytes]], items: int, *, pause_at: int | None = None
) -> tuple[Any, Any, dict[str, int]]:
    """Return all runs, all steps and the ledger after these requests."""
    place.mkdir()
    config = place / "gnomon.yaml"
    config.write_text(CONFIG)
    with serving(place / "data", "--config", str(config)) as house:
        for number, (path, body) in enumerate(requests):
            if number == pause_at:
                settle(house)
            assert house.post(path, body).status_code == 200
        house.wait_for("all stored", lambda: house.ledger()["stored"] == items)
        settle(house)
        ledger = house.ledger()
        assert house.stop() == 0
    runs, steps = stored(place / "data")
    return runs, steps, ledger


def stored(data: Path) -> tuple[Any, Any]:
    """Return every run and step as they lie in the store, without what arrival decides."""
    store = open_store(Settings(data=data))
    try:
        runs = store.read("SELECT * FROM runs FINAL ORDER BY run_id", tag="tests.runs")
        steps = store.read(
            "SELECT * FROM steps FINAL ORDER BY trace_id, span_id", tag="tests.steps"
        )
    finally:
        store.close()
    return [without_arrival(run) for run in runs], [without_arrival(step) for step in steps]


def without_arrival(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ARRIVAL}


def settle(house: Serving) -> None:
    """Wait until nothing is pending and the roll-up has nothing left to do."""
    house.wait_for("an empty queue", lambda: house.ledger()["pending"] == 0)
    last: list[Any] = []
    same = 0
    end = time.monotonic() + 120
    while time.monotonic() < end:
        now = [(run["run_id"], run["state"], run["spans"]) for run in house.all("/v1/runs")]
        settled = [state for _, state, _ in now].count("settled")
        # On a busy machine one turn of the roll-up takes longer than one look.
        same = same + 1 if now and now == last and settled >= 0.9 * len(now) else 0
        if same == 5:
            return
        last = now
        time.sleep(1.0)
    raise AssertionError("the runs did not settle")


@pytest.mark.parametrize("traces", [300, pytest.param(1_000, marks=pytest.mark.soak)])
def test_promise_3_a_shuffled_doubled_delayed_corpus_gives_identical_numbers(
    tmp_path: Path, traces: int
) -> None:
    pieces = corpus.pieces(traces)
    assert len({piece.item.trace_id for piece in pieces}) == traces
    tidy = corpus.in_order(pieces)
    wild = corpus.in_disorder(pieces, seed=20261201)
    assert len(wild) > len({body for _, body in wild}), "nothing is sent twice"
    expected = outcome(tmp_path / "tidy", tidy, len(pieces))
    # Half comes after the runs of the first half have settled.
    found = outcome(tmp_path / "wild", wild, len(pieces), pause_at=len(wild) // 2)
    assert len(expected[0]) >= traces * 0.98
    assert found[0] == expected[0]
    assert found[1] == expected[1]
    assert found[2] == expected[2]
