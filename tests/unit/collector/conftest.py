"""The spool that several of these tests fill, on a clock that stands."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.queue.spool import Spool
from tests.spools import Hands, opened


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def spool(tmp_path: Path, clock: Hands) -> Iterator[Spool]:
    spool = opened(tmp_path, clock)
    yield spool
    spool.stop(5)
