"""The pages over made-up runs, and a reader of the HTML they answer with."""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from starlette.testclient import TestClient

from collector.folding.set_aside import SetAside
from collector.queue.port import Rereading
from collector.spans import Span
from collector.watched import Watched
from gnomon.clock import from_nanos
from gnomon.config import Settings
from gnomon.model import RunStatus
from gnomon.web.app import build_web
from gnomon.web.port import Judging
from tests import desk
from tests import page_memory as memory

PARTIAL = {"HX-Request": "true"}


@dataclass(frozen=True)
class Because:
    field: str
    value: object
    rule: str


def explain(span: Span, logs: object, /) -> list[Because]:
    return [Because("input_tokens", span.attributes["gen_ai.usage.input_tokens"], "T1 usage")]


@dataclass
class Site:
    reader: memory.MemoryReader
    books: memory.MemoryBooks
    client: TestClient


def month() -> memory.MemoryReader:
    reader = desk.desk()
    for count in (1_000, 10_000, 30_000):
        reader.add(*desk.wide_run(count, root=f"{count:032x}"))
    return reader


def site(
    reader: memory.MemoryReader,
    books: memory.MemoryBooks,
    judging: Judging | None = None,
    unread: Callable[[], Sequence[SetAside]] = tuple,
    history: Rereading | None = None,
) -> Site:
    app = build_web(
        reader,
        books,
        memory.NothingTouched(history),
        Watched(),
        Settings(),
        lambda: from_nanos(desk.NOW),
        judging=judging,
        explain=explain,
        unread=unread,
    )
    client = TestClient(app, base_url="http://testserver", follow_redirects=False)
    return Site(reader, books, client)


@dataclass
class Page(HTMLParser):
    text: str
    nodes: int = 0
    links: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    words: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.nodes += 1
        self.words += " "
        given = dict(attrs)
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if tag in ("script", "link", "img") and (given.get("src") or given.get("href")):
            self.assets.append(str(given.get("src") or given["href"]))
        if "style" in given or any(name.startswith("on") for name in given):
            self.inline.append(self.get_starttag_text() or tag)
        if tag == "style" or (tag == "script" and not given.get("src")):
            self.inline.append(tag)
        if given.get("id"):
            self.ids.append(str(given["id"]))

    def handle_data(self, data: str) -> None:
        self.words += data


def said(text: str) -> str:
    """Return the words of a page without reading its structure: fifty times as quick."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def page(made: Site, path: str) -> Page:
    return Page(made.client.get(path).text)


def run_of(made: Site, status: RunStatus = RunStatus.ERROR, error: str | None = None) -> str:
    return next(
        run.run_id
        for run in made.reader.all
        if run.status is status and error in (None, run.error_type) and run.business_keys
    )


def token_of(made: Site, path: str) -> str:
    return re.search(r'name="token" value="([^"]+)"', made.client.get(path).text)[1]  # type: ignore[index]
