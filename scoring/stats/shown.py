"""From an estimate to what may be shown: n, unit, method and what was left out join it."""

from collections.abc import Mapping, Sequence
from typing import Required, TypedDict, Unpack

from scoring.stats.results import Changed, Difference, Estimate, Measure, Rate


class Told(TypedDict, total=False):
    """What joins an estimate; the first three always."""

    n: Required[int]
    unit: Required[str]
    method: Required[str]
    excluded: Mapping[str, int] | None
    open: int
    confidence: float
    flags: Sequence[str]


class _Joined(TypedDict):
    n: int
    unit: str
    method: str
    excluded: Mapping[str, int]
    open: int
    confidence: float
    flags: Sequence[str]


def shown_rate(estimate: Estimate | None, **told: Unpack[Told]) -> Rate:
    """Return an estimate of a share as it may be shown; without data from 0 to 1."""
    known = estimate or Estimate(value=None)
    return Rate(
        value=known.value,
        low=0.0 if known.low is None else known.low,
        high=1.0 if known.high is None else known.high,
        **_joined(known, told),
    )


def shown_measure(estimate: Estimate | None, *, scale: str, **told: Unpack[Told]) -> Measure:
    """Return an estimate on any other scale as it may be shown; without data, None throughout."""
    known = estimate or Estimate(value=None)
    return Measure(
        value=known.value, low=known.low, high=known.high, scale=scale, **_joined(known, told)
    )


def shown_difference(
    estimate: Estimate | None,
    *,
    p_values: Mapping[str, float | None] | None = None,
    changes: Sequence[Changed] = (),
    **told: Unpack[Told],
) -> Difference:
    """Return a comparison as it may be shown; `changes` has one entry per unit, unchanged too."""
    known = estimate or Estimate(value=None)
    return Difference(
        value=known.value,
        low=known.low,
        high=known.high,
        p_values=dict(p_values or {}),
        better=sum(change.size > 0 for change in changes),
        same=sum(change.size == 0 for change in changes),
        worse=sum(change.size < 0 for change in changes),
        changed=tuple(change for change in changes if change.size != 0),
        **_joined(known, told),
    )


def _joined(known: Estimate, told: Told) -> _Joined:
    return {
        "n": told["n"],
        "unit": told["unit"],
        "method": told["method"],
        "excluded": dict(told.get("excluded") or {}),
        "open": told.get("open", 0),
        "confidence": told.get("confidence", 0.95),
        "flags": (*known.flags, *told.get("flags", ())),
    }
