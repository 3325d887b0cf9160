from collections.abc import Iterator

import pytest
from fastapi import FastAPI, Request
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from gnomon.cli.edge import MOST, Edge
from gnomon.http import install_problems
from gnomon.telemetry import Metrics


def client(host: str | None) -> TestClient:
    app = FastAPI()
    install_problems(app)
    app.add_middleware(Edge, metrics=Metrics(CollectorRegistry()), host=host)

    @app.post("/size")
    async def size(request: Request) -> int:
        return len(await request.body())

    return TestClient(app, base_url="http://127.0.0.1:8000")


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("localhost", 200),
        ("[::1]:8000", 200),
        ("gnomon.internal:80", 200),
        ("evil.example", 400),
        ("127.0.0.1.evil.example:8000", 400),
        ("", 400),
    ],
)
def test_only_a_name_of_this_host_is_answered(name: str, status: int) -> None:
    answer = client("gnomon.internal").post("/size", headers={"host": name})
    assert answer.status_code == status
    if status == 400:
        assert answer.json()["type"] == "urn:gnomon:problem:bad_input"


def test_any_name_will_do_where_the_network_is_closed() -> None:
    assert client(None).post("/size", headers={"host": "any.example"}).status_code == 200


def test_a_body_is_bounded_whether_or_not_it_says_its_length() -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(MOST // 65536 + 2):
            yield b"x" * 65536

    asked = client("localhost")
    assert asked.post("/size", content=b"x" * MOST).json() == MOST
    said = asked.post("/size", content=b"x" * (MOST + 1))
    unsaid = asked.post("/size", content=chunks())
    for answer in (said, unsaid):
        assert answer.status_code == 413
        assert answer.json()["type"] == "urn:gnomon:problem:too_large"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://localhost:8000"}, 200),
        ({"origin": "http://localhost:8000", "sec-fetch-site": "same-origin"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://localhost:9000"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_a_page_from_elsewhere_changes_nothing(headers: dict[str, str], status: int) -> None:
    answer = client("localhost").post("/size", headers={"host": "localhost:8000", **headers})
    assert answer.status_code == status
