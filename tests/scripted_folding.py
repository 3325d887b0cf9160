"""A folding without a store, for tests of the roll-up: they say what `fold` does."""

from collections.abc import Sequence

from collector.queue.port import Touched
from gnomon.clock import Nanos


class ScriptedFolding:
    """Every trace has one span; nothing settles by itself."""

    def begin(self) -> None:
        pass

    def close(self, timeout: float) -> None:
        pass

    def settle(self, traces: Sequence[Touched], now: Nanos) -> set[str]:
        return set()

    def span_counts(self, traces: Sequence[str]) -> dict[str, int]:
        return dict.fromkeys(traces, 1)

    def shares(self, traces: Sequence[Touched]) -> Sequence[Sequence[Touched]]:
        return [traces]
