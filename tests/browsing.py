"""The pages served to real Chromium, and what every page must do there."""

import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, Request

from gnomon.model import RunStatus
from tests import site

CHROMIUM = os.environ.get("TEST_CHROMIUM", "/usr/bin/chromium")
WITH_CHROMIUM = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason=f"no Chromium at {CHROMIUM} (set TEST_CHROMIUM)"
)
SHOTS = os.environ.get("TEST_SHOTS")
"""A folder that screenshots of every page are kept in, for a person to look at."""

WIDE, NARROW = 1440, 390

EVERY_LOOK = pytest.mark.parametrize(
    ("theme", "width"),
    [
        ("light", WIDE),
        ("dark", NARROW),
        pytest.param("dark", WIDE, marks=pytest.mark.soak),
        pytest.param("light", NARROW, marks=pytest.mark.soak),
    ],
)
"""Every theme and every width in each run of the tests; all pairs of them in the long one."""


@dataclass
class Served:
    url: str
    made: site.Site
    server: uvicorn.Server

    def run(self, status: RunStatus = RunStatus.ERROR, error: str | None = "ToolTimeout") -> str:
        return site.run_of(self.made, status, error)


def serve(made: site.Site) -> Iterator[Served]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(made.client.app, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield Served(f"http://127.0.0.1:{listener.getsockname()[1]}", made, server)
    server.should_exit = True
    thread.join(10)
    listener.close()


class Watching:
    """A page, and what it should never do."""

    def __init__(self, context: BrowserContext, home: str) -> None:
        self.page: Page = context.new_page()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.home = home
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", self._note)

    def _note(self, request: Request) -> None:
        self.requests.append(request.url)

    def open(self, path: str) -> Page:
        self.page.goto(self.home + path)
        return self.page

    def behaved(self) -> None:
        assert self.messages == []
        assert [url for url in self.requests if not url.startswith(self.home)] == []


def accessible(page: Page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found.response["violations"]]


def sideways(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def proven(page: Page, name: str, *, axe: bool = True) -> None:
    """Prove what holds for every page: accessible, never sideways, text large enough, few nodes."""
    if axe:
        found = accessible(page)
        assert not found, f"{name}: {found}"
    assert sideways(page) <= 0, name
    small = page.evaluate(
        "[...document.querySelectorAll('.chart text')].map(t => 11 * "
        "t.ownerSVGElement.getBoundingClientRect().width / 640).filter(s => s < 9.6).length"
    )
    assert small == 0, name
    assert page.evaluate("document.querySelectorAll('*').length") <= 6_500, name


def kept(page: Page, name: str, theme: str, width: int) -> None:
    """Keep a picture of the page where somebody wants to look at it."""
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}-{theme}-{width}.png", full_page=width < 500)
