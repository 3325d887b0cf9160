"""The demo's own files are read by those who must understand them."""

import yaml

from collector.watched import SECTIONS, watched
from gnomon.cli.demo import demo_config, demo_policy
from gnomon.cli.demo.genai import AGENT
from gnomon.cli.demo.releases import RELEASES
from gnomon.cli.demo.world import APPROVAL_ABOVE, TOOLS
from gnomon.watch import parse


def test_the_configuration_is_valid_and_holds_no_unknown_section() -> None:
    watch = parse(demo_config())
    watch.refuse_unknown(SECTIONS)
    settings = watched(watch)
    assert settings.runs.quiet_period.total_seconds() == 5
    assert set(settings.business_keys) == {"order_id", "ticket_id", "customer_id", "topic"}


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
