"""Promise 12 on pages: whoever follows the link of a number finds exactly so many runs."""

import html
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from starlette.datastructures import QueryParams

from gnomon.web.filters import parse
from gnomon.web.runs import judged_where
from tests import desk, judged_desk
from tests import site as pages
from tests.judged_desk import BROKEN, KEPT, World
from tests.site import Site

PAGES = {
    "/?period=30d": 10,
    "/agents?period=30d": 3,
    "/agents/refund-desk?period=30d": 20,
    "/policies?period=30d": 4,
    f"/policies/refunds/{BROKEN}?period=30d": 1,
    f"/policies/refunds/{KEPT}?period=30d": 1,
    "/status": 7,
}
"""Each with how many numbers it links at least."""
_LINK = re.compile(r'<a [^>]*href="(/runs\?[^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
_NUMBER = re.compile(
    r'<a class="n" href="(/runs\?[^"]*)"><span class="\w+">([\d.]+)(?:–[\d.]+)? %</span></a>'
    r'.*?<a class="plain" href="(/runs\?[^"]*)">n = [\d,]+</a>',
    re.DOTALL,
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with judged_desk.judged_desk(tmp_path_factory.mktemp("judged")) as made:
        yield made


@pytest.fixture(scope="module")
def full(world: World) -> Iterator[Site]:
    made = pages.site(world.reader, desk.books(), world.judging)  # type: ignore[arg-type]
    with made.client:
        yield made


def listed(world: World, href: str) -> int:
    """Count the runs of a list as its page does."""
    query = parse(QueryParams(urlsplit(html.unescape(href)).query))
    return world.reader.count(judged_where(query, desk.NOW, world.judging))


def counts(text: str) -> Iterator[tuple[str, int]]:
    """Yield address and number of every link that is a count of runs."""
    for href, inner in _LINK.findall(text):
        words = html.unescape(re.sub(r"<[^>]+>", "", inner)).strip()
        told = re.search(r'<span class="num">([\d,]+)</span>\s*$', inner)
        found = told or re.fullmatch(r"(?:n = )?([\d,]+)(?: runs?)?", words)
        if found:
            yield href, int(found[1].replace(",", ""))


@pytest.mark.parametrize("path", PAGES)
def test_promise_12_every_count_on_a_page_links_to_exactly_so_many_runs(
    full: Site, world: World, path: str
) -> None:
    text = full.client.get(path).text
    found = dict(counts(text))
    assert len(found) >= PAGES[path], sorted(found.items())
    wrong = {
        href: (number, n) for href, number in found.items() if (n := listed(world, href)) != number
    }
    assert not wrong


@pytest.mark.parametrize("path", ["/agents?period=30d", "/agents/refund-desk?period=30d", "/policies?period=30d", "/?period=30d"])  # fmt: skip
def test_promise_12_a_share_is_the_runs_behind_it_over_the_runs_behind_its_n(
    full: Site, world: World, path: str
) -> None:
    text = full.client.get(path).text
    seen = 0
    for cell in re.findall(r"<td.*?</td>", text, re.DOTALL):
        if "per run" in cell or not (found := _NUMBER.search(cell)):
            continue
        hits, share, behind = found.groups()
        assert 100 * listed(world, hits) / listed(world, behind) == pytest.approx(
            float(share), abs=0.051
        ), cell
        seen += 1
    assert seen >= 2


def test_promise_12_each_point_of_the_verdict_chart_lists_its_settled_runs(
    full: Site, world: World
) -> None:
    text = full.client.get("/?period=30d").text
    table = re.search(r">Settled</th>.*?</table>", text, re.DOTALL)
    assert table is not None
    rows = re.findall(r'<tr><td[^>]*><a href="([^"]+)">.*?</td>\s*<td[^>]*>([\d,]+)</td>', table[0])
    assert len(rows) > 10
    for href, settled in rows:
        assert listed(world, href) == int(settled.replace(",", "")), href
