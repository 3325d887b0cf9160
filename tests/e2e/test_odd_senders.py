"""What senders call things reaches pages and commands whole, whatever it holds: one real process."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from playwright.sync_api import Browser, sync_playwright

from gnomon.clock import to_nanos, utc_now
from gnomon.segment import segment
from tests import otlp
from tests.browsing import CHROMIUM
from tests.odd_ids import ODD_IDS
from tests.serving import COMMAND, ROOT, Serving, serving

CONFIG = """
runs:
  run_id: [app.run_id]
policies:
  - policy: thrift
    budgets: {seconds: 1}
"""


def send(house: Serving, number: int, **attributes: str) -> None:
    now = to_nanos(utc_now()) - 60_000_000_000
    named = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "desk",
        **{name.replace("__", "."): value for name, value in attributes.items()},
    }
    span = otlp.span(
        number,
        trace_id=(0xABC0 + number).to_bytes(16, "big"),
        start_time_unix_nano=now + number,
        end_time_unix_nano=now + number + 1_000_000,
        attributes=[otlp.KeyValue(key=k, value=otlp.value(v)) for k, v in named.items()],
    )
    answer = house.post("/v1/traces", otlp.traces(span).SerializeToString())
    assert answer.status_code == 200


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("odd")
    (folder / "gnomon.yaml").write_text(CONFIG)
    with serving(folder / "data") as running:
        for number, odd in enumerate(ODD_IDS, start=1):
            send(running, number, app__run_id=odd)
        running.wait_for(
            "every run", lambda: len(running.all("/v1/runs", since="1h")) == len(ODD_IDS)
        )
        yield running


def said(house: Serving, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *words, "--url", house.addresses["web"]],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM} (set TEST_CHROMIUM)")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.parametrize("odd", ["order/17", "acme/api#17", "..", "line\nbreak", "~", "%2e%2e"])
def test_a_command_shows_the_run_it_was_asked_for(house: Serving, odd: str) -> None:
    for words in (("runs", "show"), ("labels", "list")):
        found = said(house, *words, odd, "--json")
        assert found.returncode == 0, found.stderr
        assert json.loads(found.stdout)["run_id"] == odd


NEED_THE_MARK = {"..", ".", "a/../b", "a/steps", "a/steps/b", "a/judgments", "~", "~order~2F17"}
"""Ids that docs/api.md says must be written with `~`."""


@pytest.mark.parametrize("odd", [one for one in ODD_IDS if one not in NEED_THE_MARK])
def test_a_percent_encoded_id_answers_too(house: Serving, odd: str) -> None:
    answer = httpx2.get(f"{house.addresses['web']}/v1/runs/{quote(odd, safe='')}")
    assert answer.json()["run_id"] == odd


def test_every_row_of_the_list_leads_to_its_own_run(house: Serving, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    seen = []
    page.goto(f"{house.addresses['web']}/runs?period=1h")
    addresses = [link.get_attribute("href") for link in page.locator("a[data-row]").all()]
    for address in addresses:
        page.goto(f"{house.addresses['web']}{address}")
        seen.append(page.locator(".crumbs code").get_attribute("data-copy"))
    assert sorted(str(one) for one in seen) == sorted(ODD_IDS)
    context.close()


@pytest.mark.parametrize("odd", ODD_IDS)
def test_the_jump_box_finds_every_id(house: Serving, odd: str) -> None:
    answer = httpx2.get(f"{house.addresses['web']}/jump", params={"q": odd})
    assert answer.headers["location"] == f"/runs/{segment(odd)}"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_the_api_refuses_another_method_before_the_pages_see_it(
    house: Serving, method: str
) -> None:
    answer = httpx2.request(method, f"{house.addresses['web']}/v1/runs")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:gnomon:problem:method_not_allowed"
