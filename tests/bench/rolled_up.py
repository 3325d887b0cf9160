"""The figures of the roll-up bench beside their goal."""

from tests import samples
from tests.bench import rollup
from tests.bench.figures import Figure, say

QUICK = 4_000


def run(*, quick: bool = False) -> list[Figure]:
    """Measure the demo's traffic and the recorded samples."""
    figures = []
    for load in rollup.LOADS:
        if load == "samples" and not samples.names():
            say(f"  {load}: {samples.WHY_SKIPPED}")
            continue
        found = rollup.best_of(load, QUICK if quick else rollup.SPANS)
        say(rollup.shown(load, found))
        visible = found["stored"] + found["visible.whole"]
        figures += [
            Figure(name=f"{load}: stored, CPU a span", value=found["stored"], unit="us"),
            Figure(name=f"{load}: visible, CPU a span", value=visible, unit="us"),
            Figure(
                name=f"{load}: visible : stored",
                value=visible / found["stored"],
                below=rollup.LIMIT,
            ),
        ]
    return figures
