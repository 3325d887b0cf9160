"""What every test gets: a clean environment, and no store or network unless it asks."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings

settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("house")

MAY_TOUCH = ("integration", "e2e", "contract", "bench")


def pytest_configure() -> None:
    for name in [name for name in os.environ if name.startswith("GNOMON_")]:
        del os.environ[name]
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and "unit" in Path(item.path).parts:
            item.fixturenames.insert(0, "_no_network")


@pytest.fixture
def _no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    tried: list[Any] = []
    real = socket.socket.connect

    def refuse(self: socket.socket, address: Any) -> None:
        if self.family == socket.AF_UNIX:
            return real(self, address)
        tried.append(address)
        raise AssertionError("this test reached for the network without asking")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    yield
    assert not tried, "the attempt was swallowed"
