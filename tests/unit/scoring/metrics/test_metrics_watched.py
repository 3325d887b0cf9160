import pytest

from gnomon.errors import ConfigError
from gnomon.watch import parse
from scoring.metrics.watched import watched

FULL = """
cluster_by: customer_id
slices: {topic: ticket_topic}
compare:
  task: ticket_id
  rule: {metric: completion, basis: tasks, margin: 0.05, n: 200}
metrics:
  people_usd_per_minute: 0.8
"""


def test_the_file_says_units_slices_and_the_rule() -> None:
    found = watched(parse(FULL))
    assert found.cluster_by == "customer_id"
    assert found.mix_slice == "topic"
    assert found.compare.task == "ticket_id"
    assert found.compare.rule is not None
    rule = found.compare.rule.rule()
    assert (rule.measure, rule.kind, rule.limit, rule.planned) == (
        "completion on tasks", "non_inferiority", 0.05, 200,
    )  # fmt: skip


def test_an_empty_file_is_fine_and_slices_may_be_a_list() -> None:
    assert watched(parse("")).compare.rule is None
    assert watched(parse("slices: [topic]")).slices == {"topic": "topic"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("compare: {rule: {n: 200}}", "needs a margin"),
        ("compare: {rule: {kind: superiority, margin: 0.1, n: 9}}", "has no margin"),
        ("compare: {rule: {margin: 0.1, n: 2, looks: 3}}", "at least the number of looks"),
        ("compare: {slice: colour}", "is no slice"),
        ("compare: {rule: {margin: 0.1}}", "gnomon.yaml:1"),
        ("cluster_by: ''", "cluster_by"),
    ],
)
def test_an_error_names_line_and_mend(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        watched(parse(text))
