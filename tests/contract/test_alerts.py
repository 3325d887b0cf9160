"""deploy/alerts.yml: what Prometheus would do with it, and that it asks for labels that exist."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.source_calls import calls

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "alerts.yml"
RULES = yaml.safe_load(FILE.read_text())["groups"][0]["rules"]
METERS = {"Counter", "Gauge", "Histogram", "CounterMetricFamily", "GaugeMetricFamily"}


def labels() -> dict[str, set[str]]:
    """Return the labels of every figure, from the calls that make them."""
    found: dict[str, set[str]] = {}
    for call in calls(METERS):
        if isinstance(call.args[0], ast.Constant):
            values = (*call.args[2:], *(word.value for word in call.keywords))
            lists = [value for value in values if isinstance(value, ast.List)]
            name = ast.literal_eval(call.args[0]).removesuffix("_total")
            found[name] = {ast.literal_eval(item) for one in lists for item in one.elts}
    return found


LABELS = labels()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_labels_that_its_figures_have(rule: dict[str, str]) -> None:
    names = {
        name.removesuffix("_total").removesuffix("_bucket")
        for name in re.findall(r"gnomon_[a-z_]+", rule["expr"])
    }
    there = {"le"}.union(*(LABELS[name] for name in names))
    grouped = set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", rule["expr"]))))
    chosen = set(re.findall(r"[{,]\s*(\w+)(?:=~|!~|!=|=)\"", rule["expr"]))
    assert grouped | chosen <= there
    said = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    assert said <= grouped, "a label that the expression drops would be empty in the message"


SCENES = """
rule_files: [{rules}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {{series: gnomon_traces_unread, values: "0x10 2x60"}}
      - {{series: 'gnomon_part_failures_total{{part="writer",code="disk_full"}}', values: "0x10 0+2x60"}}
      - {{series: 'gnomon_part_failures_total{{part="rollup_trace",code="X"}}', values: "0+9x70"}}
      - {{series: 'gnomon_ingest_refused_total{{transport="http",reason="queue_full"}}', values: "0+9x70"}}
      - {{series: 'gnomon_ingest_refused_total{{transport="http",reason="unused_metrics"}}', values: "0+9x70"}}
      - {{series: 'gnomon_ingest_received_total{{source="a"}}', values: "0+100x70"}}
      - {{series: 'gnomon_ingest_stored_total{{source="a"}}', values: "0+90x70"}}
      - {{series: 'gnomon_ingest_rejected_total{{source="a",reason="too_large"}}', values: "0+10x70"}}
      - {{series: 'gnomon_ingest_pending{{source="a"}}', values: "0x70"}}
      - {{series: gnomon_ingest_oldest_pending_seconds, values: "90x70"}}
      - {{series: 'gnomon_dead_letters{{source="a"}}', values: "0x70"}}
    alert_rule_test:
{expected}
"""
FIRING = {
    "TracesUnread": [{}],
    "PartFailing": [{"part": "writer", "code": "disk_full"}],
    "IngestRefusing": [{"transport": "http", "reason": "queue_full"}],
    "IngestRejecting": [{"reason": "too_large"}],
    "IngestLag": [{}],
    "IngestStalled": [],
    "LedgerUnbalanced": [],
    "DeadLetters": [],
}
"""What fires after an hour of that scene, with its labels."""


def test_the_alerts_fire_on_what_they_mean_and_on_nothing_else(tmp_path: Path) -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: package prometheus)")
    subprocess.run([tool, "check", "rules", str(FILE)], check=True, capture_output=True)
    by_name = {rule["alert"]: rule for rule in RULES}
    expected = ""
    for name, sets in FIRING.items():
        expected += f"      - eval_time: 60m\n        alertname: {name}\n        exp_alerts: ["
        for found in sets:
            rule = by_name[name]
            said = dict(rule["annotations"])
            said["summary"] = re.sub(
                r"{{ \$labels\.(\w+) }}", lambda match, f=found: f[match[1]], said["summary"]
            ).replace("{{ $value }}", "2")
            expected += str({"exp_labels": rule["labels"] | found, "exp_annotations": said})
        expected += "]\n"
    scene = tmp_path / "scene.yml"
    scene.write_text(SCENES.format(rules=FILE, expected=expected))
    ran = subprocess.run([tool, "test", "rules", str(scene)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
