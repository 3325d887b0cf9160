"""What people read about Gnomon is true: events, figures, alerts, commands, settings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests import command_table
from tests.source_calls import calls

ROOT = Path(__file__).parents[2]
RUNBOOK = (ROOT / "deploy" / "RUNBOOK.md").read_text()
ALERTS = yaml.safe_load((ROOT / "deploy" / "alerts.yml").read_text())["groups"][0]["rules"]


def firsts(names: set[str], first: str) -> Iterator[str]:
    """Yield the first argument of every call of these names whose text fits a pattern."""
    for call in calls(names):
        argument = call.args[0]
        said = argument.value if isinstance(argument, ast.Constant) else None
        if isinstance(said, str) and re.fullmatch(first, said):
            yield said


EVENTS = sorted(set(firsts({"info", "warning", "error"}, r"[a-z]+(_[a-z]+)*")))
COUNTERS = {"Counter", "CounterMetricFamily"}
FIGURES = sorted(
    {name.removesuffix("_total") + "_total" for name in firsts(COUNTERS, "gnomon_.*")}
    | set(firsts({"Gauge", "Histogram", "GaugeMetricFamily"}, "gnomon_.*"))
)


@pytest.mark.parametrize("event", EVENTS)
def test_a_log_event_stands_in_the_runbook(event: str) -> None:
    assert f"`{event}`" in RUNBOOK


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_stands_in_the_runbook(figure: str) -> None:
    assert f"`{figure}`" in RUNBOOK


@pytest.mark.parametrize("alert", [rule["alert"] for rule in ALERTS])
def test_an_alert_has_its_section(alert: str) -> None:
    assert f"\n## {alert}\n" in RUNBOOK


def test_alerts_ask_only_for_figures_that_exist() -> None:
    asked = set(re.findall(r"gnomon_[a-z_]+", " ".join(rule["expr"] for rule in ALERTS)))
    known = {*FIGURES, *(f"{name}_bucket" for name in FIGURES)}
    assert asked <= known, asked - known


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    mend = "python -m tests.command_table > docs/commands.md"
    assert (ROOT / "docs" / "commands.md").read_text() == command_table.page(), mend


def test_the_readme_names_only_commands_that_exist() -> None:
    said = re.findall(
        r"^gnomon ([a-z-]+)(?: ([a-z-]+))?", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    known = {" ".join(path) for path, _ in command_table.commands()}
    for noun, verb in said:
        assert noun in known or f"{noun} {verb}".strip() in known, (noun, verb)


def test_the_configuration_shown_in_the_docs_is_valid(tmp_path: Path) -> None:
    from gnomon.cli.process import settings_of, watch_of

    text = (ROOT / "docs" / "configuration.md").read_text()
    for number, block in enumerate(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)):
        place = tmp_path / f"{number}.yaml"
        place.write_text(block)
        watch_of(settings_of(config_file=place))
