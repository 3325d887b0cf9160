"""The package itself: cheap to import, documented, small, and without chance or clock."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import scoring.stats
from scoring import stats

FILES = sorted(Path(scoring.stats.__file__).parent.glob("*.py"))
HEAVY = {"numpy", "scipy"}


@pytest.mark.parametrize("names", ["scoring.stats", "gnomon.cli, collector, scoring, gnomon.web"])
def test_importing_imports_neither_numpy_nor_scipy(names):
    code = f"import {names}, sys; print({{'numpy', 'scipy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_module_is_small_and_imports_arithmetic_inside_functions_only(path):
    text = path.read_text()
    tree = ast.parse(text)
    assert text.count("\n") <= (400 if path.stem == "__init__" else 250)
    assert ast.get_docstring(tree)
    for node in tree.body:
        match node:
            case ast.Import(names=found):
                heads = {alias.name.split(".")[0] for alias in found}
            case ast.ImportFrom(module=str() as module):
                heads = {module.split(".")[0]}
            case _:
                continue
        assert not heads & (HEAVY | {"random", "time", "datetime", "os"}), heads


def functions():
    return [getattr(stats, name) for name in stats.__all__ if name[0].islower()]


@pytest.mark.parametrize("function", functions(), ids=lambda function: function.__name__)
def test_a_function_says_what_it_estimates_its_arguments_its_edges_and_its_source(function):
    text = inspect.getdoc(function) or ""
    assert text.splitlines()[0].startswith(("Return", "Refuse"))
    assert "Source:" in text
    assert "rror" in text, "which errors it raises, or that it raises none"


@pytest.mark.parametrize("function", functions(), ids=lambda function: function.__name__)
def test_chance_comes_from_an_explicit_seed(function):
    tree = ast.parse(inspect.getsource(function))
    calls = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    if "default_rng" in calls:
        assert "seed" in inspect.signature(function).parameters
