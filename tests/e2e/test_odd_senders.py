"""What senders call things reaches pages and commands whole, whatever it holds: one real process."""

import json
import os
import pty
import re
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
        name=named.pop("name", "work"),
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


HOSTILE = "ag\x1b[31mRED\x1b[2J\r\nfake row\u202etxet\x9b1m"
"""Colours, clears the screen, begins a line of its own, turns the direction, colours again."""


def on_a_terminal(house: Serving, *words: str, columns: int = 80) -> tuple[int, str]:
    """Run a command as a person does; return its exit code and all that the terminal got."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *words, "--url", house.addresses["web"]],
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(columns), "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                some = os.read(ours, 65_536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not some:
                break
            seen += some
        os.close(ours)
        return process.wait(60), seen.decode()


OWN = re.compile(r"\x1b\[[0-9;]*m")
"""What tables are drawn with: colours and bold."""


def undrawn(text: str) -> str:
    return OWN.sub("", text.replace("\r\n", "\n"))


@pytest.fixture(scope="module")
def hostile(house: Serving) -> str:
    """Send one run whose every name attacks the terminal; return its trace id."""
    send(
        house,
        99,
        name=f"esc\x1b]0;pwned\x07{HOSTILE}",
        app__run_id="hostile",
        gen_ai__agent__name=HOSTILE,
        gen_ai__agent__version=HOSTILE,
        error__type=HOSTILE,
    )
    house.wait_for("the hostile run", lambda: house.all("/v1/runs", agent=HOSTILE))
    return f"{0xABC0 + 99:032x}"


def test_no_name_of_a_sender_is_obeyed_by_a_terminal(house: Serving, hostile: str) -> None:
    span = f"{99:016x}"
    for words in (
        ("runs", "list"),
        ("runs", "show", "hostile"),
        ("spans", "show", hostile, span),
        ("spans", "explain", hostile, span),
        ("labels", "list", "hostile"),
        ("metrics", "show", "--by", "version"),
        ("runs", "show", HOSTILE),
    ):
        for columns in (80, 200):
            _, raw = on_a_terminal(house, *words, columns=columns)
            text = undrawn(raw)
            found = re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
            assert not found, (words, found, text)
            assert not re.search(r"^fake row", text, re.MULTILINE), text
            assert "\\x1b" in text or words[0] in ("labels", "metrics"), (words, text)


def test_json_holds_the_very_name_and_no_byte_that_is_obeyed(house: Serving, hostile: str) -> None:
    found = said(house, "runs", "show", "hostile", "--json")
    assert json.loads(found.stdout)["agent_name"] == HOSTILE
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", found.stdout)


def test_a_narrow_terminal_shows_whole_ids_and_every_figure_by_name(
    house: Serving, hostile: str
) -> None:
    code, raw = on_a_terminal(house, "runs", "list", "--agent", "desk", "--limit", "3")
    text = undrawn(raw)
    assert code == 0
    assert len(re.findall(r"^[^ ].*\n  started .* · status \S+", text, re.MULTILINE)) == 3, text
    assert text.count("agent desk") == 3
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_wide_terminal_shows_a_table(house: Serving, hostile: str) -> None:
    _, raw = on_a_terminal(house, "runs", "list", "--agent", "desk", columns=200)
    head = undrawn(raw).splitlines()[0].split()
    assert head == [
        "run",
        "started",
        "status",
        "took",
        "agent",
        "version",
        "steps",
        "tokens",
        "cost",
    ]


def test_a_run_is_found_by_the_beginning_of_its_id(house: Serving, hostile: str) -> None:
    assert json.loads(said(house, "runs", "show", "hosti", "--json").stdout)["run_id"] == "hostile"
    several = said(house, "runs", "show", "a/")
    assert several.returncode == 2
    assert "several runs begin with a/: " in several.stderr
    assert all(one in several.stderr for one in ODD_IDS if one.startswith("a/"))
    assert said(house, "runs", "show", "no such run").returncode == 1
    answer = httpx2.get(f"{house.addresses['web']}/jump", params={"q": "hosti"})
    assert answer.headers["location"] == "/runs/hostile"


def test_output_that_can_not_be_written_is_told_and_a_closed_pipe_is_not(house: Serving) -> None:
    shell = f"{' '.join(COMMAND)} runs list --json --url {house.addresses['web']}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    full = subprocess.run(
        ["sh", "-c", f"{shell} >/dev/full"], env=environment, capture_output=True, text=True
    )
    assert (full.returncode, full.stderr) == (
        4,
        "gnomon: what was asked for could not be written to standard output:"
        " No space left on device\n",
    )
    closed = subprocess.run(
        ["bash", "-c", f"{shell} | true; echo ${{PIPESTATUS[0]}}"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (closed.stdout, closed.stderr) == ("0\n", "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_the_api_refuses_another_method_before_the_pages_see_it(
    house: Serving, method: str
) -> None:
    answer = httpx2.request(method, f"{house.addresses['web']}/v1/runs")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:gnomon:problem:method_not_allowed"
