"""The rules of the house that no linter knows."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("gnomon", "collector", "scoring", "shadow", "replay")
PRODUCT = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
DRAWERS = {"utils", "util", "helpers", "common", "misc", "manager", "handlers"}
OWNERS = {
    "collector": {"spans", "steps", "runs", "logs", "spans_wire", "logs_wire"},
    "scoring": {
        *("labels", "violations", "grader_status", "job_ledger"),
        *("compare_rules", "compare_in_force", "compare_looks"),
    },
}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PRODUCT, ids=name)
def test_a_file_has_one_subject_and_says_which(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400, "two subjects: split it by subject"
    assert ast.get_docstring(ast.parse(text)), "say in one line what the module is for"
    assert path.stem not in DRAWERS, "a drawer is no subject"


@pytest.mark.parametrize("room", ROOMS)
def test_importing_a_package_is_quick_and_does_nothing_heavy(room: str) -> None:
    script = (
        "import sys, time; began = time.perf_counter()\n"
        f"import {room}\n"
        "heavy = {'scipy', 'numpy', 'chdb', 'pandas', 'grpc', 'clickhouse_connect'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert out.stdout.strip() == "[]", out.stdout + out.stderr


def test_the_command_line_starts_without_the_engine_and_without_scipy() -> None:
    script = (
        "import sys, gnomon.cli.app\n"
        "print(sorted({'scipy', 'chdb', 'grpc', 'clickhouse_connect', 'fastapi'} & {*sys.modules}))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert out.stdout.strip() == "[]", out.stdout + out.stderr


@cache
def statements(path: Path) -> str:
    """Return what may be SQL in a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    return "\n".join(
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if "SELECT" in node.value or "INSERT" in node.value
    )


@pytest.mark.parametrize(
    ("owner", "table"),
    [(owner, table) for owner, names in OWNERS.items() for table in sorted(names)],
)
def test_only_the_owner_of_a_table_names_it_in_sql(owner: str, table: str) -> None:
    named = re.compile(rf"\b(?:FROM|INTO|JOIN|UPDATE|TABLE)\s+{table}\b", re.IGNORECASE)
    allowed = {ROOT / owner, ROOT / "gnomon" / "store" / "migrations"}
    for path in [*PRODUCT, *(p for room in ROOMS for p in (ROOT / room).rglob("*.sql"))]:
        if any(place in path.parents for place in allowed):
            continue
        assert not named.search(statements(path)), f"{name(path)} names {owner}'s table {table}"


def test_imports_point_to_where_the_data_comes_from() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    out = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert out.returncode == 0, out.stdout + out.stderr
