"""The real parts that several of these tests stand on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.queue.spool import Spool
from gnomon.store import Store
from tests.judged_world import World
from tests.receiving import House, house_of
from tests.stores import ENGINES, emptied, migrated_store
from tests.traffic import open_spool


@pytest.fixture(scope="module", params=ENGINES)
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    with migrated_store(request.param, tmp_path_factory.mktemp("data")) as store:
        yield store


@pytest.fixture
def store(opened: Store) -> Store:
    return emptied(opened)


@pytest.fixture
def world(store: Store) -> World:
    return World(store)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with open_spool(tmp_path) as spool:
        yield spool


@pytest.fixture
def house() -> Iterator[House]:
    yield from house_of()
