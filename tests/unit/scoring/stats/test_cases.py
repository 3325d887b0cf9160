"""Every numeric case of the specification, read in place."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.samples import SHARED
from tests.unit.scoring.stats import case_adapters_time  # noqa: F401 - registers its adapters
from tests.unit.scoring.stats.case_adapters import answer

FILE = Path(SHARED) / "cases" / "stat_cases.json"
if not FILE.exists():
    pytest.skip(f"no numeric cases at {FILE} (set TEST_SHARED)", allow_module_level=True)
CASES: list[dict[str, Any]] = json.loads(FILE.read_text())


def test_every_case_has_its_own_name():
    assert len({case["id"] for case in CASES}) == len(CASES) > 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_numbers_are_those_of_the_case(case):
    missing = differences(answer(case), case["expected"], case["tolerance"], "")
    assert not missing, f"{case['topic']} ({case['source']}):\n" + "\n".join(missing)


def differences(actual: Any, expected: Any, tolerance: float, place: str) -> list[str]:
    """Return where an answer differs from what is expected, by the rules of the cases' README."""
    match expected:
        case dict():
            if not isinstance(actual, dict):
                return [f"{place}: {actual!r} is no object"]
            return [
                line
                for key, inner in expected.items()
                for line in (
                    differences(actual[key], inner, tolerance, f"{place}.{key}")
                    if key in actual
                    else [f"{place}.{key}: missing"]
                )
            ]
        case list():
            if not isinstance(actual, list) or len(actual) != len(expected):
                return [f"{place}: {actual!r} is no list of {len(expected)}"]
            return [
                line
                for index, pair in enumerate(zip(actual, expected, strict=True))
                for line in differences(*pair, tolerance, f"{place}[{index}]")
            ]
        case bool() | str() | None:
            same = type(actual) is type(expected) and actual == expected
        case _:
            numeric = isinstance(actual, int | float) and not isinstance(actual, bool)
            same = numeric and abs(actual - expected) <= tolerance
    return [] if same else [f"{place}: {actual!r}, expected {expected!r} +- {tolerance}"]
