"""New less old inside strata: weeks, or slices of weeks, each with the same weight on both sides."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from scoring.stats.clustered import Alike as Counted
from scoring.stats.clustered import compare_clustered
from scoring.stats.clusters import wider
from scoring.stats.results import Difference, Estimate
from scoring.stats.shown import shown_difference
from scoring.stats.weeks import Week, compare_weeks, equal_mix, pooled
from scoring.versions.cells import Alike, Cell, Key, bounded, summed

_ONCE = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two versions, and what one unit of their runs is."""

    base: str
    cand: str
    unit: str = "run"
    confidence: float = 0.95


def inside(
    cells: Sequence[Cell],
    key: Key,
    over: str,
    pair: Pair,
    *,
    clusters: Sequence[Alike] | None = None,
    excluded: Mapping[str, int] | None = None,
) -> Difference:
    """Return new less old over the strata that both versions have.

    over: what the strata are called in the method; clusters: where runs come in them, those
    of the cells. Equal shares of runs everywhere: the pooled counts. While runs are undecided
    there is no value: the limits are those of the worst and the best case.
    """
    sides = (pair.base, pair.cand)
    kept = in_both(cells, key, base=pair.base, cand=pair.cand)
    own = [cell for cell in cells if cell.version in sides]

    def counts(some: Sequence[Cell], worst: int | None) -> dict[Hashable, Week]:
        return summed(some, key, base=pair.base, cand=pair.cand, worst=worst)

    equal = equal_mix(list(counts(kept, None).values()))

    def found(worst: int | None) -> Estimate | None:
        if clusters is None:
            return compare_weeks(list(counts(own, worst).values()), confidence=pair.confidence)
        alike = [(counts(one.cells, worst), one.clusters) for one in clusters]
        if not equal:
            return compare_clustered(alike, confidence=pair.confidence)
        names = set(counts(kept, None))
        total = _added(counts(kept, worst), names)
        once: list[Counted] = [({_ONCE: _added(weeks, names)}, number) for weeks, number in alike]
        return _pooled(total, once, pair.confidence)

    undecided = sum(cell.undecided for cell in kept)
    seen = bounded(found, undecided)
    what = "weeks" if key == "week" else "slices"
    flags = () if seen is None else [flag.replace("weeks", what) for flag in seen.flags]
    return shown_difference(
        None if seen is None else replace(seen, flags=flags),
        n=min(_units(kept, key, clusters, version) for version in sides),
        unit=pair.unit,
        method=_method(over, newcombe=equal or "pooled" in flags, clustered=clusters is not None),
        excluded=excluded,
        open=undecided,
        confidence=pair.confidence,
    )


def in_both(cells: Sequence[Cell], key: Key, *, base: str, cand: str) -> list[Cell]:
    """Return the cells of strata that both versions have."""
    held = [{getattr(c, key) for c in cells if c.version == version} for version in (base, cand)]
    both = held[0] & held[1]
    return [c for c in cells if c.version in {base, cand} and getattr(c, key) in both]


def _added(weeks: Mapping[Hashable, Week], names: Collection[Hashable]) -> Week:
    x1, n1, x2, n2 = (sum(weeks[name][place] for name in names if name in weeks) for place in range(4))  # fmt: skip
    return x1, n1, x2, n2


def _pooled(total: Week, clusters: Sequence[Counted], confidence: float) -> Estimate | None:
    """Return the pooled difference with the wider limits of Newcombe and of the clusters."""
    runs = pooled([total], (), confidence)
    found = compare_clustered(clusters, confidence=confidence)
    if runs is None or found is None:
        return None
    if found.low is None:
        return Estimate(value=runs.value, flags=found.flags)
    return wider(runs, found)


def _units(kept: Sequence[Cell], key: Key, clusters: Sequence[Alike] | None, version: str) -> int:
    """Return the units of a version: clusters, else runs."""
    if clusters is None:
        return sum(cell.runs for cell in kept if cell.version == version)
    names = {getattr(cell, key) for cell in kept}
    return sum(
        one.clusters
        for one in clusters
        if any(cell.version == version and getattr(cell, key) in names for cell in one.cells)
    )


def _method(over: str, *, newcombe: bool, clustered: bool) -> str:
    plain = "newcombe" if newcombe else f"mantel-haenszel over {over}"
    return f"wider of {plain} and clusters" if clustered else plain
