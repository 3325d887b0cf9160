# ruff: noqa: T201 - prints figures
"""CPU time per span of reading and folding: `python tests/bench/fold.py [--profile]`."""

import cProfile
import gc
import pstats
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from collector.dialects.read import read_span
from collector.folding.fold import fold_traces
from collector.spans import LogRecord, Span
from collector.watched import Watched
from gnomon.clock import Nanos
from tests import samples

ROUNDS = 10
LARGE = 9
"""Spans of a sample that is of the size of an ordinary run."""

WATCHED = Watched()


def corpus() -> list[tuple[list[Span], list[LogRecord]]]:
    """Return the recorded samples, each as one batch of traces."""
    return [(samples.spans(name), samples.logs(name)) for name in samples.names()]


def read_all(batches: list[tuple[list[Span], list[LogRecord]]]) -> None:
    """Read every span by the dialect table alone."""
    for spans, _ in batches:
        for span in spans:
            read_span(span)


def fold_all(batches: list[tuple[list[Span], list[LogRecord]]]) -> None:
    """Fold every batch into steps and runs."""
    for spans, logs in batches:
        fold_traces(spans, logs, watched=WATCHED, previous={}, received={}, now=Nanos(0))


def cost(work: Callable[[], None], spans: int) -> float:
    """Return the least CPU microseconds per span over some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        gc.collect()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best / spans * 1e6


def main() -> None:
    """Print the figures, and where the time goes when asked."""
    batches = corpus()
    if not batches:
        print(samples.WHY_SKIPPED)
        return
    spans = sum(len(own) for own, _ in batches)
    print(f"{spans} spans of {len(batches)} samples, best of {ROUNDS} rounds")
    print(f"read the dialect table  {cost(lambda: read_all(batches), spans):6.1f} us/span")
    print(f"fold to steps and runs  {cost(lambda: fold_all(batches), spans):6.1f} us/span")
    large = [batch for batch in batches if len(batch[0]) >= LARGE]
    spans = sum(len(own) for own, _ in large)
    print(f"the same, large samples {cost(lambda: fold_all(large), spans):6.1f} us/span")
    if "--profile" in sys.argv:
        profile = cProfile.Profile()
        profile.runcall(fold_all, batches)
        pstats.Stats(profile).sort_stats("tottime").print_stats(35)


if __name__ == "__main__":
    main()
