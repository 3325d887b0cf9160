"""From an estimate to what may be shown: n, unit, method and what was left out join it."""

from collections.abc import Mapping, Sequence

from scoring.stats.results import Changed, Difference, Estimate, Measure, Rate


def shown_rate(
    estimate: Estimate | None,
    *,
    n: int,
    unit: str,
    method: str,
    excluded: Mapping[str, int] | None = None,
    open: int = 0,  # noqa: A002 - the name of the field
    confidence: float = 0.95,
    flags: Sequence[str] = (),
) -> Rate:
    """Return an estimate of a share as it may be shown; without data from 0 to 1."""
    known = estimate or Estimate(value=None)
    return Rate(
        value=known.value,
        low=0.0 if known.low is None else known.low,
        high=1.0 if known.high is None else known.high,
        n=n,
        unit=unit,
        method=method,
        excluded=dict(excluded or {}),
        open=open,
        confidence=confidence,
        flags=(*known.flags, *flags),
    )


def shown_measure(
    estimate: Estimate | None,
    *,
    n: int,
    unit: str,
    method: str,
    scale: str,
    excluded: Mapping[str, int] | None = None,
    open: int = 0,  # noqa: A002 - the name of the field
    confidence: float = 0.95,
    flags: Sequence[str] = (),
) -> Measure:
    """Return an estimate on any other scale as it may be shown; without data, None throughout."""
    known = estimate or Estimate(value=None)
    return Measure(
        value=known.value,
        low=known.low,
        high=known.high,
        n=n,
        unit=unit,
        method=method,
        scale=scale,
        excluded=dict(excluded or {}),
        open=open,
        confidence=confidence,
        flags=(*known.flags, *flags),
    )


def shown_difference(
    estimate: Estimate | None,
    *,
    n: int,
    unit: str,
    method: str,
    excluded: Mapping[str, int] | None = None,
    open: int = 0,  # noqa: A002 - the name of the field
    confidence: float = 0.95,
    flags: Sequence[str] = (),
    p_values: Mapping[str, float | None] | None = None,
    changes: Sequence[Changed] = (),
) -> Difference:
    """Return a comparison as it may be shown; `changes` has one entry per unit, unchanged too."""
    known = estimate or Estimate(value=None)
    return Difference(
        value=known.value,
        low=known.low,
        high=known.high,
        n=n,
        unit=unit,
        method=method,
        excluded=dict(excluded or {}),
        open=open,
        confidence=confidence,
        flags=(*known.flags, *flags),
        p_values=dict(p_values or {}),
        better=sum(change.size > 0 for change in changes),
        same=sum(change.size == 0 for change in changes),
        worse=sum(change.size < 0 for change in changes),
        changed=tuple(change for change in changes if change.size != 0),
    )
