"""`gnomon policy check` and its neighbours: what they print and how they end."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
import uvicorn
from typer.testing import CliRunner, Result

from gnomon.cli.judging import graders, jobs, labels, policy
from gnomon.errors import GnomonError, NotFound
from gnomon.store.migrate import apply, shipped
from tests.judging import Court, make_run, make_step
from tests.stores import fresh_store

CONFIG = "policies: [{policy: desk, version: '1', prohibited: [{tool: refund, after: close}]}]"


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Court]:
    with fresh_store("embedded", tmp_path_factory.mktemp("court")) as store:
        apply(store, shipped())
        court = Court(store, CONFIG)
        court.put(
            make_run("bad"),
            make_step(1, "refund", {"order": "A"}, {"ok": True}, run_id="bad"),
        )
        court.put(
            make_run("good"),
            make_step(1, "check", {"order": "A"}, {"ok": True}, run_id="good"),
            make_step(2, "refund", {"order": "A"}, {"ok": True}, run_id="good"),
        )
        yield court


@pytest.fixture(scope="module")
def url(court: Court) -> Iterator[str]:
    @court.client.app.get("/v1/runs/{run_id}")  # type: ignore[attr-defined,untyped-decorator]
    def run_of(run_id: str) -> dict[str, str]:
        """Answer for the collector, which this house does not have."""
        if run_id not in ("bad", "good"):
            raise NotFound
        return {"run_id": run_id}

    @court.client.app.get("/v1/runs")  # type: ignore[attr-defined,untyped-decorator]
    def runs_of(id_prefix: str) -> dict[str, object]:
        """Answer for it, too."""
        found = [{"run_id": name} for name in ("bad", "good") if name.startswith(id_prefix)]
        return {"items": found, "next": None}

    server = uvicorn.Server(
        uvicorn.Config(court.client.app, host="127.0.0.1", port=0, log_config=None)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "desk.yaml"


app = typer.Typer()
for name, group in (("policy", policy), ("graders", graders), ("jobs", jobs), ("labels", labels)):
    app.add_typer(group, name=name)


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_right_file_is_enough_offline(file: Path) -> None:
    file.write_text("required_before: {refund: [{tool: check}]}", encoding="utf-8")
    found = run("policy", "check", file)
    assert found.exit_code == 0, found.output
    assert "speaks of check, refund" in found.stderr.replace("\n", " ")
    said = json.loads(run("policy", "check", file, "--json").stdout)
    assert (said["policy"], said["tools"]) == ("desk", ["check", "refund"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prohibited:\n  - {tool: x, max_comitted: 1}", "desk.yaml:2: prohibited.0.max_comitted"),
        ("prohibited: [", "desk.yaml:1"),
        ("scope: {agents: x}", "a policy without a rule holds for everything"),
        ("required_before:\n  x: []", "desk.yaml:2: required_before.x: says nothing"),
        (
            "arguments:\n  x: {properties: {y: {$dynamicRef: '#no'}}}",
            "desk.yaml:2: arguments.x.properties.y.$dynamicRef: $dynamicRef #no leads nowhere",
        ),
        ("# " + "x" * 1024**2, "larger than 1048576 bytes"),
        (None, "there is no such file"),
    ],
)
def test_a_wrong_file_is_named_with_line_and_mend_and_ends_with_2(
    file: Path, text: str | None, says: str
) -> None:
    if text is not None:
        file.write_text(text, encoding="utf-8")
    found = run("policy", "check", file)
    assert isinstance(found.exception, GnomonError)
    assert found.exception.exit_code == 2
    assert says in found.exception.detail


@pytest.mark.parametrize(
    ("rule", "where", "code"),
    [
        ("required_before: {refund: [{tool: check}]}", ("--since", "900d"), 1),
        ("required_before: {refund: [{tool: check}]}", ("--run", "bad"), 1),
        ("required_before: {refund: [{tool: check}]}", ("--run", "good"), 0),
        ("required_before: {refund: [{tool: check}]}", ("--run", "ba"), 1),
        ("required_before: {delete: [{tool: check}]}", ("--since", "900d"), 3),
    ],
)
def test_the_exit_code_says_kept_broken_or_nothing_to_judge(
    url: str, file: Path, rule: str, where: tuple[str, str], code: int
) -> None:
    file.write_text(rule, encoding="utf-8")
    found = run("policy", "check", file, *where, "--url", url)
    assert found.exit_code == code, found.output
    if code == 1:
        assert "required_before.refund.0" in found.stdout
        assert "s1" in found.stdout


def test_a_directory_is_no_policy_file(tmp_path: Path) -> None:
    found = run("policy", "check", tmp_path)
    assert isinstance(found.exception, GnomonError)
    assert "is a directory" in found.exception.detail


@pytest.mark.parametrize("where", [("--since", "900d"), ("--run", "good")])
def test_a_tool_nobody_called_is_named_as_perhaps_misspelt(
    url: str, file: Path, where: tuple[str, str]
) -> None:
    file.write_text("required_before: {refund: [{tool: nosuchtool_x}]}", encoding="utf-8")
    found = run("policy", "check", file, *where, "--url", url)
    assert "no run called nosuchtool_x: misspelt?" in found.stderr
    assert "no run called refund" not in found.stderr
    said = json.loads(run("policy", "check", file, *where, "--json", "--url", url).stdout)
    assert said["never_called"] == ["nosuchtool_x"]


def test_jobs_graders_and_labels_are_told(url: str, court: Court) -> None:
    court.clock.later(60)
    assert run("jobs", "run", "judge", "--url", url).exit_code == 0
    job, _retries, _verdicts, _rollbacks = [
        json.loads(line) for line in run("jobs", "list", "--json", "--url", url).stdout.splitlines()
    ]
    assert (job["name"], job["due"], job["failing"]) == ("judge", 0, None)
    assert "desk" in run("graders", "list", "--since", "900d", "--url", url).stdout
    shown = run("labels", "list", "bad", "--url", url)
    assert shown.exit_code == 0, shown.output
    assert "graded" in shown.stdout
    asked = run("graders", "backfill", "desk", "--url", url)
    assert asked.exit_code == 0, asked.output
    nobody = run("graders", "backfill", "nobody", "--url", url)
    assert isinstance(nobody.exception, GnomonError)
    assert "there are: desk" in nobody.exception.detail
