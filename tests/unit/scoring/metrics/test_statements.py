import re

import pytest

from gnomon.errors import InputError
from scoring.metrics.parts import PARTS, RATIOS, condition, staged
from scoring.metrics.scope import Scope
from scoring.metrics.statements import Units, group_of, statement

UNITS = Units(cluster_by="customer_id", task="task_id", slices={"topic": "ticket_topic"})
SCOPED = "(state = 'settled' AND NOT has(flags, 'infra_error'))"


@pytest.mark.parametrize(
    ("part", "sql"),
    [
        ("verified", f"{SCOPED} AND verified = 1"),
        ("unverified", f"{SCOPED} AND verified = -1"),
        ("passed_check", f"({SCOPED} AND verified = 1)"),
        ("claimed", f"{SCOPED} AND claimed"),
        (
            "false_claim",
            f"({SCOPED} AND claimed) AND (verified = 0 OR (verified = -1 AND claim_held = 0))",
        ),
        ("violated", f"{SCOPED} AND conduct = 'broken'"),
        ("unchecked", f"{SCOPED} AND hard_conduct IN ('not_applicable', 'not_evaluable')"),
    ],
)
def test_a_part_is_written_out(part: str, sql: str) -> None:
    assert condition(part) == sql


def test_every_ratio_speaks_of_parts_that_exist() -> None:
    for ratio in RATIOS.values():
        assert ratio.m in PARTS
        assert ratio.amount or ratio.y in PARTS


def test_what_a_caller_says_never_becomes_sql() -> None:
    hostile = "x'); DROP TABLE runs; --"
    scope = Scope(agent=hostile, version=hostile, slices={"topic": hostile})
    for name in ("sums", "behind", "graders", "rules", "tasks", "conditions"):
        found = statement(name, scope, UNITS)
        assert "DROP" not in found.sql
        assert "{{" not in found.sql
        assert hostile in found.params.values()


def test_an_unknown_grouping_names_those_there_are() -> None:
    with pytest.raises(InputError, match="slice:topic"):
        group_of("colour", UNITS)
    assert group_of("slice:topic", UNITS) == (
        "business_keys[{slice_key:String}]",
        {"slice_key": "ticket_topic"},
    )


def test_an_unknown_part_names_those_there_are() -> None:
    with pytest.raises(InputError, match="false_claim"):
        statement("behind", Scope(), UNITS, part="colour")


@pytest.mark.parametrize("part", list(PARTS))
def test_a_part_is_staged_behind_the_parts_that_it_names(part: str) -> None:
    inner = staged([part], "SELECT 1")
    # From within: every column that a stage names was written by a stage before it.
    written: set[str] = set()
    for stage in reversed(inner.split("SELECT *, ")[1:]):
        columns = re.findall(r"(.+?) AS is_(\w+)(?:, | FROM)", stage)
        for text, _ in columns:
            assert set(re.findall(r"\bis_(\w+)", text)) <= written
        written |= {name for _, name in columns}
    assert part in written
