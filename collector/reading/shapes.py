"""What is asked of all steps of a run at once, however many: where they stand, what they tell."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from collector.views import Shape, Told
from gnomon.model import Kind

TOLD = """scope_name, scope_version, kind, counted, (status = 'ok')::Bool AS ok,
    (input_tokens IS NOT NULL)::Bool AS told_input,
    (output_tokens IS NOT NULL)::Bool AS told_output,
    (cached_tokens IS NOT NULL)::Bool AS told_cached,
    (reasoning_tokens IS NOT NULL)::Bool AS told_reasoning,
    ifNull(streamed, false) AS told_streamed, has(flags, 'orphan')::Bool AS orphan"""
"""In the order of the fields of `Told`."""

_TOLD = [field.name for field in fields(Told)]
_COLUMNS = [field.name for field in fields(Shape) if field.name not in ("trace_ids", "told")]


def told(row: Sequence[Any]) -> Told:
    """Return what some steps tell from a row in the order of `TOLD`."""
    named = dict(zip(_TOLD, row, strict=True))
    return Told(**{**named, "kind": Kind(named["kind"])})


def shape(row: Mapping[str, Any], traces: Sequence[str]) -> Shape:
    """Return the shape of a run from its one row, in which its traces are counted from 1."""
    return Shape(
        trace_ids=[traces[place - 1] for place in row["traces"]],
        told=[told(one) for one in row["told"]],
        **{name: row[name] for name in _COLUMNS},
    )
