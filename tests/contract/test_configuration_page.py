"""docs/configuration.md: what it shows is what is read."""

import re
from pathlib import Path

import pytest

from collector import watched as collector_watched
from gnomon.watch import parse
from scoring import watched as scoring_watched
from scoring.grading.spec import Means
from scoring.metrics import watched as metrics_watched
from scoring.policies.language import Policy

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_example_is_read_without_a_complaint(block: str) -> None:
    watch = parse(block, name=PAGE.name)
    watch.refuse_unknown(
        collector_watched.SECTIONS | scoring_watched.SECTIONS | metrics_watched.SECTIONS
    )
    collector_watched.watched(watch)
    metrics_watched.watched(watch)
    scoring_watched.watched(watch).built(Means())


def test_every_built_in_grader_and_each_of_its_fields_is_told_with_an_example() -> None:
    shown = {
        spec.type  # type: ignore[union-attr]
        for block in BLOCKS
        for spec in scoring_watched.watched(parse(block)).graders
    }
    assert shown == set(scoring_watched.BUILT_IN)
    section = TEXT.split("### graders")[1]
    for type_, model in scoring_watched.BUILT_IN.items():
        for name, field in model.model_fields.items():
            assert f"`{field.alias or name}`" in section, f"{type_}: {name}"


def test_every_field_of_a_policy_stands_in_the_example() -> None:
    section = TEXT.split("### policies")[1].split("### graders")[0]
    for name in Policy.model_fields:
        assert f"{name}:" in section
