import datetime as dt
from collections.abc import Sequence

import pytest

from collector.folding.rollup import RollUp
from collector.queue.port import Touched
from gnomon.clock import Nanos, to_nanos
from gnomon.errors import StoreUnavailable
from tests.scripted_folding import ScriptedFolding
from tests.touched import MemoryTouched

START = dt.datetime(2026, 11, 2, 9, tzinfo=dt.UTC)


class Folding(ScriptedFolding):
    def __init__(self) -> None:
        self.now = START
        self.gone = False
        self.folded: list[Nanos] = []

    def fold(self, traces: Sequence[Touched], now: Nanos) -> dict[str, Nanos]:
        if self.gone:
            raise StoreUnavailable
        self.folded.append(now)
        self.now += dt.timedelta(seconds=5)
        return {}


def test_the_watermark_is_the_start_of_the_last_finished_pass() -> None:
    folding = Folding()
    touched = MemoryTouched()
    rollup = RollUp(folding, touched, clock=lambda: folding.now)
    assert rollup.watermark() is None
    touched.touch({"a": to_nanos(START)}, to_nanos(START))
    rollup.pass_once()
    assert rollup.watermark() == START
    assert folding.folded == [to_nanos(START)], "what a pass writes is not before its watermark"
    second = folding.now
    folding.gone = True
    touched.touch({"b": to_nanos(second)}, to_nanos(second))
    with pytest.raises(StoreUnavailable):
        rollup.pass_once()
    assert rollup.watermark() == START, "a pass that failed finished nothing"
    folding.gone = False
    rollup.pass_once()
    assert rollup.watermark() == second
