"""The demo's own files are read by those who must understand them."""

from pathlib import Path

import yaml

from collector.watched import SECTIONS, watched
from gnomon.cli.demo import demo_config, demo_policy
from gnomon.cli.demo.genai import AGENT
from gnomon.cli.demo.rehearsal import TASKS
from gnomon.cli.demo.releases import RELEASES
from gnomon.cli.demo.world import APPROVAL_ABOVE, TOOLS
from gnomon.watch import parse, read
from scoring import watched as scoring_watched
from scoring.metrics import watched as metrics_watched


def test_the_configuration_is_valid_and_holds_no_unknown_section() -> None:
    watch = parse(demo_config())
    watch.refuse_unknown(SECTIONS | metrics_watched.SECTIONS)
    settings = watched(watch)
    assert settings.runs.quiet_period.total_seconds() == 5
    keys = {"order_id", "ticket_id", "customer_id", "topic", "task_id"}
    assert set(settings.business_keys) == keys


def test_the_desk_is_judged_when_its_books_can_be_asked(tmp_path: Path) -> None:
    (tmp_path / "trajectory.yaml").write_text(demo_policy(), encoding="utf-8")
    config = tmp_path / "gnomon.yaml"
    config.write_text(demo_config("http://127.0.0.1:9"), encoding="utf-8")
    watch = read(config)
    watch.refuse_unknown(SECTIONS | scoring_watched.SECTIONS | metrics_watched.SECTIONS)
    said = scoring_watched.watched(watch)
    assert [policy.name for policy in said.policies] == ["trajectory"]
    assert {spec.type for spec in said.graders} == {
        "outcome_check",
        "claim",
        "schema",
        "budget",
        "convergence",
        "recovery",
    }
    assert "{{" not in config.read_text(encoding="utf-8")


def test_calls_that_share_their_key_pay_once() -> None:
    rules = yaml.safe_load(demo_policy())["prohibited"]
    (once,) = [rule for rule in rules if "max_committed" in rule]
    assert once == {"tool": "issue_refund", "max_committed": 1, "idempotency": "idempotency_key"}


def test_every_model_has_a_price() -> None:
    prices = watched(parse(demo_config())).prices
    for release in RELEASES:
        for name in (release.model, release.served_model):
            assert any(price.pattern.match(name) for price in prices), name


def test_the_policy_speaks_of_tools_that_exist() -> None:
    policy = yaml.safe_load(demo_policy())
    named = {
        *policy["required_before"],
        *policy["conditionally_required_before"],
        *policy["after_ambiguous_write"],
        *(rule["tool"] for rule in policy["prohibited"]),
        *(need["tool"] for needs in policy["required_before"].values() for need in needs),
    }
    assert named <= set(TOOLS)


def test_policy_and_world_agree_on_the_amount_that_needs_approval() -> None:
    policy = yaml.safe_load(demo_policy())
    rule = policy["conditionally_required_before"]["issue_refund"][0]
    assert rule["tool"] == "request_refund_approval"
    assert rule["when"] == {"arg": "amount", "above": APPROVAL_ABOVE}


def test_the_agent_is_the_one_of_the_worked_example() -> None:
    assert AGENT == "cx-agent"
    assert [release.version for release in RELEASES] == ["rc3", "rc4"]


def test_the_rule_of_the_demo_is_about_the_tasks_of_its_rehearsal() -> None:
    said = metrics_watched.watched(parse(demo_config()))
    rule = said.compare.rule
    assert rule is not None
    assert (rule.n, rule.trials, rule.basis) == (TASKS, 1, "tasks")
    assert (said.cluster_by, said.mix_slice, said.compare.task) == (
        "customer_id",
        "topic",
        "task_id",
    )
