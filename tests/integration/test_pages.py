"""The frame of the pages over HTTP: guards, budgets, theme, errors, empty states."""

import gzip
import html
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from gnomon.errors import StoreUnavailable
from gnomon.model import Kind
from gnomon.web.app import HEADERS
from tests import desk
from tests import page_memory as memory
from tests import site as pages
from tests.shapes import chain, chain_of_fans, fan, fan_of_chains, shaped
from tests.site import PARTIAL, Page, Site, page, run_of, site, token_of

PAGES = ("/", "/?period=30d", "/runs", "/runs?period=30d&status=error", "/status", "/keys", "/nope")


@pytest.fixture(scope="module")
def month() -> memory.MemoryReader:
    return pages.month()


@pytest.fixture
def full(month: memory.MemoryReader) -> Iterator[Site]:
    made = pages.site(month, desk.books())
    with made.client:
        yield made


@pytest.fixture
def empty() -> Iterator[Site]:
    made = pages.site(memory.MemoryReader(), memory.MemoryBooks())
    with made.client:
        yield made


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_guarded_private_and_without_anything_inline(full: Site, path: str) -> None:
    answer = full.client.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert "HX-Request" in answer.headers["Vary"]
    seen = Page(answer.text)
    assert seen.inline == []
    assert len(seen.ids) == len(set(seen.ids))
    assert all(asset.startswith("/static/") for asset in seen.assets)


@pytest.mark.parametrize("path", [*PAGES, f"/runs/{10_000:032x}", f"/runs/{30_000:032x}"])
def test_every_page_keeps_its_budget(full: Site, path: str) -> None:
    text = full.client.get(path).text
    seen = Page(text)
    assert len(gzip.compress(text.encode(), 5)) <= 40_000
    assert seen.nodes <= 6_500
    assert 1 + len(seen.assets) <= 8


def test_a_run_of_a_thousand_steps_is_drawn_whole_within_its_budget(full: Site) -> None:
    text = full.client.get(f"/runs/{1_000:032x}").text
    assert text.count('role="treeitem"') == 1_000
    assert len(gzip.compress(text.encode(), 5)) <= 60_000
    assert Page(text).nodes <= 6_500


SHAPES = {
    "a chain": (chain(3_000), None),
    "a chain that failed in its middle": (chain(3_000), 1_500),
    "a chain drawn whole": (chain(1_000), None),
    "a fan": (fan(3_000), 1_700),
    "a fan of chains": (fan_of_chains(30, 100), 2_050),
    "a chain of fans": (chain_of_fans(10, 300), 2_500),
    "a chain with leaves": (chain_of_fans(600, 5), 2_000),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [Kind.TOOL, Kind.CHAIN])
def test_tree_and_waterfall_keep_their_budget_whatever_the_shape_and_whatever_is_opened(
    shape: str, kind: Kind
) -> None:
    parents, failed = SHAPES[shape]
    reader = memory.MemoryReader()
    reader.add(*shaped(parents, root="d" * 32, failed=failed, kind=kind))
    made = pages.site(reader, memory.MemoryBooks())
    with made.client:
        path = f"/runs/{'d' * 32}"
        for turn in range(6):
            text = made.client.get(path).text
            assert Page(text).nodes <= 6_500
            most = 60_000 if len(parents) <= 1_000 else 40_000
            assert len(gzip.compress(text.encode(), 5)) <= most
            assert text.count('role="treeitem"') <= 1_000
            more = re.findall(r'href="([^"]+)" data-more', text)
            if not more:
                break
            path = html.unescape(more[turn % len(more)])
        assert turn or kind is Kind.CHAIN or len(parents) <= 1_000


def test_all_style_and_script_of_the_product_is_small(full: Site) -> None:
    seen = page(full, "/")
    bodies = [full.client.get(asset).content for asset in seen.assets if "mark" not in asset]
    assert len(gzip.compress(b"".join(bodies))) <= 30_000


def test_static_files_carry_their_hash_and_are_kept_for_ever(full: Site) -> None:
    for asset in page(full, "/").assets:
        assert re.fullmatch(r"/static/\w+\.[0-9a-f]{10}\.(css|js|svg)", asset)
        answer = full.client.get(asset)
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert full.client.get("/static/app.css").status_code == 404
    assert full.client.get("/static/..%2fapp.py").status_code == 404


def test_the_top_bar_shows_only_pages_that_exist(full: Site) -> None:
    bar = re.search(r'<nav class="nav".*?</nav>', full.client.get("/runs").text, re.DOTALL)
    assert bar is not None
    links = Page(bar[0])
    assert links.links == ["/", "/runs", "/status"]
    assert all(full.client.get(path).status_code == 200 for path in links.links)
    assert '<a href="/runs" aria-current="page">' in bar[0]


def test_the_theme_is_a_cookie_the_server_renders(full: Site) -> None:
    token = token_of(full, "/runs")
    answer = full.client.post(
        "/theme",
        data={"theme": "dark", "here": "/runs?q=a", "token": token},
        headers={"Origin": "http://testserver"},
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?q=a")
    assert '<html lang="en" data-theme="dark">' in full.client.get("/runs").text


@pytest.mark.parametrize("here", ["//evil.test", "https://evil.test/", "/\\evil.test", "x"])
def test_the_way_back_never_leaves_this_site(full: Site, here: str) -> None:
    answer = full.client.post(
        "/theme",
        data={"theme": "auto", "here": here, "token": token_of(full, "/")},
        headers={"Origin": "http://testserver"},
    )
    assert answer.headers["location"] == "/"


def test_the_key_sheet_is_also_a_page(full: Site) -> None:
    assert "Jump to any id" in page(full, "/keys").words


def test_a_region_is_answered_alone_and_known_regions_with_304(full: Site) -> None:
    headers = {**PARTIAL, "HX-Target": "live"}
    answer = full.client.get("/?period=30d", headers=headers)
    assert "<html" not in answer.text
    assert 'class="tiles"' in answer.text
    again = full.client.get(
        "/?period=30d", headers={**headers, "If-None-Match": answer.headers["ETag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    full.books.rows = full.books.rows[1:]
    changed = full.client.get(
        "/?period=30d", headers={**headers, "If-None-Match": answer.headers["ETag"]}
    )
    assert changed.status_code == 200


def test_a_wrong_address_answers_404_with_a_search(full: Site) -> None:
    for path in ("/nope", "/runs/" + "0" * 32, f"/runs/{run_of(full)}?step=beef"):
        answer = full.client.get(path)
        assert answer.status_code == 404
        assert 'action="/jump"' in answer.text
        assert "404 not_found" in answer.text


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/runs?status=broken", "is none of ok, error, unknown"),
        ("/runs?after=x", "is no position in the list"),
        (
            "/status?hours=0",
            "hours: '0' can not be used: Input should be greater than or equal to 1",
        ),
        (f"/runs/{1_000:032x}?view=sideways", "view: "),
    ],
)
def test_a_bad_request_names_the_field_and_the_mend(full: Site, path: str, named: str) -> None:
    answer = full.client.get(path)
    assert answer.status_code in (400, 422)
    assert named in Page(answer.text).words
    assert "Change what is named above" in answer.text


def test_a_store_that_is_away_is_said_with_what_is_kept(empty: Site) -> None:
    empty.reader.failure = StoreUnavailable("no answer from db:8123 within 30 s")
    answer = empty.client.get("/runs")
    assert answer.status_code == 503
    words = Page(answer.text).words
    assert "ClickHouse did not answer." in words
    assert "no answer from db:8123 within 30 s" in words
    assert "nothing is lost" in words
    assert "503 store_unavailable" in words


def test_the_api_below_v1_is_answered_as_the_api_speaks(full: Site) -> None:
    answer = full.client.get("/v1/nope")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:gnomon:problem:not_found"


def test_a_bug_is_a_page_that_keeps_its_guards(month: memory.MemoryReader) -> None:
    made = site(memory.MemoryReader(), memory.MemoryBooks())
    made.reader.failure = ZeroDivisionError("secret words of a customer")
    client = TestClient(made.client.app, raise_server_exceptions=False)
    answer = client.get("/runs")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]


def test_an_empty_house_says_how_to_send_the_first_trace(empty: Site) -> None:
    words = page(empty, "/").words
    assert "Nothing has arrived yet" in words
    assert "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318" in words
    assert "4317" in words
    assert "make demo" in words


def test_an_empty_list_says_why_and_what_to_do(full: Site, empty: Site) -> None:
    filtered = page(full, "/runs?q=nobody+said+this")
    assert "No run fits" in filtered.words
    assert "/runs?period=all&q=nobody+said+this" in filtered.links
    assert "No run in this time" in page(empty, "/runs?period=1h").words


def test_the_pages_start_without_scipy() -> None:
    code = "import sys, gnomon.web.app; sys.exit('scipy' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_page_that_is_only_read_refuses_another_method(full: Site) -> None:
    answer = full.client.post("/runs")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert "Method not allowed" in answer.text
