"""`python -m tests.bench [name …] [--quick]`: measure, print figures beside goals; change nothing.

Names: see `BENCHES`; without one all are run. Exit code 1 when a goal is missed.
"""

import argparse
import importlib
import sys
import time
from collections.abc import Mapping, Sequence

from tests.bench.figures import Figure, load_average, say, table

BENCHES: Mapping[str, str] = {
    "ack": "acknowledging at 5,000 spans a second, and as fast as possible",
    "naive": "beside a plain FastAPI collector, and beside ClickHouse reading a file",
    "rollup": "CPU per span up to stored, and up to the run being visible",
    "pages": "lists and pages over a million spans; a run of 50,000 spans",
    "memory": "memory when idle, and when nothing can be stored",
    "policies": "a policy over a million steps on one core",
    "metrics": "metrics and the judged half of the first page over 100,000 runs of 12 weeks",
    "coverage": "how often each nominal 95 % interval holds the truth at small n",
    "fresh": "a fresh clone, from `make demo` to the first run",
}
"""Name, which is that of its module, and what it measures."""

_SLOW = ("fresh",)
"""Left out with `--quick` unless named."""


def main(arguments: Sequence[str]) -> int:
    """Run the named benches one after the other; end with all figures in a table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        epilog="; ".join(f"{name}: {what}" for name, what in BENCHES.items()),
    )
    parser.add_argument("names", nargs="*", choices=[[], *BENCHES], metavar="name")
    parser.add_argument("--quick", action="store_true", help="less load, fewer rounds")
    given = parser.parse_args(arguments)
    names = given.names or [name for name in BENCHES if not (given.quick and name in _SLOW)]
    figures: list[Figure] = []
    for name in names:
        say(f"\n{name}: {BENCHES[name]}")
        began = time.perf_counter()
        found: list[Figure] = importlib.import_module(f"tests.bench.{_module(name)}").run(
            quick=given.quick
        )
        say(f"{name} took {time.perf_counter() - began:.0f} s")
        figures += found
    say(f"\nall figures ({load_average()})\n{table(figures)}")
    missed = [one.name for one in figures if one.met is False]
    say(f"\nmissed: {'; '.join(missed)}" if missed else "\nevery goal is reached")
    return 1 if missed else 0


def _module(name: str) -> str:
    return {"rollup": "rolled_up"}.get(name, name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
