"""Every recorded request gives the steps and runs that are known to be true."""

import pytest

from collector.folding.fold import Folded, fold_traces
from collector.watched import Watched
from gnomon.clock import Nanos
from tests import recorded, samples

NAMES = samples.names()

pytestmark = pytest.mark.skipif(not NAMES, reason=samples.WHY_SKIPPED)


def folded(name: str) -> Folded:
    return fold_traces(
        samples.spans(name),
        samples.logs(name),
        watched=Watched(),
        previous={},
        received={},
        now=Nanos(0),
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_sample_gives_its_known_steps_and_runs(name):
    result = folded(name)
    verdict = recorded.compare(samples.expected(name), result.steps, result.runs)
    assert not verdict.failures, "\n".join(verdict.failures)
