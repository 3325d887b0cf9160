"""`gnomon metrics show` and `gnomon versions compare`: what they print and how they end."""

import json
import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import typer
import uvicorn
from fastapi import FastAPI
from typer.testing import CliRunner, Result

from gnomon.cli.metrics import metrics, versions
from gnomon.clock import from_nanos
from gnomon.http import install_problems
from gnomon.store.migrate import apply, shipped
from scoring.metrics.reader import MetricReader
from scoring.metrics.watched import CompareSection, MetricsWatched, RuleSection
from scoring.metrics_router import build_router
from scoring.versions.reader import CompareReader
from tests.judged_world import BEFORE, World, seen_first
from tests.stores import fresh_store

WATCHED = MetricsWatched(
    slices={"topic": "topic"},
    compare=CompareSection(rule=RuleSection(kind="superiority", n=12)),
)


LATE = RuleSection(kind="superiority", n=11)
"""A rule that is first seen when it is asked."""
UNJUDGED = RuleSection(kind="superiority", n=2)
ON_LIVE = RuleSection(kind="superiority", n=11, basis="live")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fresh_store("embedded", tmp_path_factory.mktemp("world")) as opened:
        apply(opened, shipped())
        world = World(opened)
        store = world.store
        unjudged = MetricReader(store, MetricsWatched(compare=CompareSection(rule=UNJUDGED)))
        seen_first(store, CompareReader(store, unjudged).plan)
        for task in range(2):
            for version in ("unjudged1", "unjudged2"):
                world.run(judged=False, agent_version=version, keys={"task_id": f"u{task}"})
        reader = MetricReader(store, WATCHED)
        CompareReader(store, reader, clock=lambda: from_nanos(BEFORE)).remember()
        for task in range(12):
            keys = {"task_id": f"t{task}", "topic": "late"}
            world.run(verified=task == 0, keys=keys, manifest={"model": "a", "prompt": "7"})
            world.run(
                verified=task != 1, keys=keys, agent_version="rc4",
                manifest={"model": "b", "prompt": "8"},
            )  # fmt: skip
        world.run(agent_name="dear", agent_version="d1", unpriced_calls=1)
        compare = CompareReader(store, reader)
        app = FastAPI()
        install_problems(app)
        app.include_router(build_router(reader, compare))
        late = MetricReader(store, MetricsWatched(compare=CompareSection(rule=LATE)))
        live = MetricReader(store, MetricsWatched(compare=CompareSection(rule=ON_LIVE)))
        for name, metrics in (("late", late), ("unjudged", unjudged), ("live", live)):
            other = FastAPI()
            install_problems(other)
            other.include_router(build_router(metrics, CompareReader(store, metrics)))
            app.mount(f"/{name}", other)
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        server.should_exit = True
        thread.join(10)


app = typer.Typer()
app.add_typer(metrics, name="metrics")
app.add_typer(versions, name="versions")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})


def test_metrics_are_a_table_for_people_with_the_guards_below_each(url: str) -> None:
    found = run("metrics", "show", "--by", "version", "--url", url)
    assert found.exit_code == 0, found.output
    assert "completion" in found.stdout
    assert "guard: false_claims" in found.stdout
    assert "8.3 %" in found.stdout  # 1 of 12
    assert "three: cost_per_success" in found.stdout


def test_money_of_which_a_part_has_no_price_is_told_as_at_least(url: str) -> None:
    found = run("metrics", "show", "--agent", "dear", "--url", url)
    assert found.exit_code == 0, found.output
    (line,) = [line for line in found.stdout.splitlines() if "three: cost_per_success" in line]
    assert "≥ $0.50" in line


def test_metrics_are_json_for_programs(url: str) -> None:
    said = json.loads(
        run("metrics", "show", "--slice", "topic:late", "--json", "--url", url).stdout
    )
    (group,) = said["groups"]
    assert group["runs"] == 24
    assert group["metrics"]["completion"]["value"] == 0.5
    assert group["metrics"]["completion"]["guard"]
    surfaces = json.loads(run("metrics", "show", "--surfaces", "--json", "--url", url).stdout)
    assert len(surfaces["groups"][0]["surfaces"]) == 7


def test_a_comparison_ends_with_the_verdict_of_the_rule(url: str) -> None:
    found = run("versions", "compare", "rc3", "rc4", "--url", url)
    assert found.exit_code == 0, found.output
    assert "PASS" in found.stdout
    assert "2 pins changed at once (model, prompt)" in found.stderr
    assert "fixed 10, same 2, broke 0" in found.stderr.replace("\n", " ")
    worse = run("versions", "compare", "rc4", "rc3", "--url", url)
    assert worse.exit_code == 1
    assert "guard" in found.stdout
    assert "false claims" in found.stdout
    assert "violations: no new violation" in found.stderr
    assert re.search(r"written before +yes", found.stdout)
    assert "look 1" in found.stdout
    live = run("versions", "compare", "rc3", "rc4", "--on", "live", "--json", "--url", url)
    assert live.exit_code == 3  # the rule is about tasks
    assert json.loads(live.stdout)["ruling"]["reason"] == "the rule is about completion on tasks"


def test_whoever_does_not_say_on_what_is_answered_on_what_the_rule_is_about(url: str) -> None:
    def asked(*more: str) -> Any:
        words = ("versions", "compare", "rc3", "rc4", *more, "--json", "--url", f"{url}/live")
        return json.loads(run(*words).stdout)

    unsaid = asked()
    assert unsaid["ruling"]["governs"] is True
    assert unsaid == asked("--on", "live")
    assert "weeks" in unsaid
    assert asked("--on", "tasks")["ruling"]["reason"] == "the rule is about completion on live"


def test_a_rule_that_came_after_the_runs_decides_nothing(url: str) -> None:
    found = run("versions", "compare", "rc3", "rc4", "--url", f"{url}/late")
    assert found.exit_code == 3, found.output
    words = " ".join(found.stdout.split())
    assert "after runs of both versions had come in" in words
    assert re.search(r"written before +no", found.stdout)
    assert re.search(r"difference +\+83.3 points, .* a reading aid, not a test", words)
    assert "PASS" not in words


def test_a_look_that_has_its_units_and_waits_is_said_to_wait(url: str) -> None:
    found = run("versions", "compare", "unjudged1", "unjudged2", "--url", f"{url}/unjudged")
    assert found.exit_code == 3, found.output
    words = " ".join(found.stdout.split())
    assert "withheld: the planned look has its units, and waits as the verdict says, n = 2" in words
    assert "4 of the runs to be looked at are not judged yet" in words
    assert "more needed" not in words


def test_a_wrong_question_is_refused_before_it_is_asked(url: str) -> None:
    assert run("versions", "compare", "rc3", "rc4", "--on", "moon", "--url", url).exit_code == 2
