"""How much of a change between two versions is another mix of inputs, and how much is behaviour."""

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.model import JsonValue
from scoring.stats.changes import MixAndRate, mix_and_rate, standardised
from scoring.stats.results import Difference
from scoring.versions.cells import Alike, Cell, common, summed, swapped
from scoring.versions.strata import Pair, in_both, inside


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """One slice: share of the runs and share of passes, before and after."""

    slice: str
    base_runs: int
    base_passed: int
    cand_runs: int
    cand_passed: int
    base_open: int = 0
    """Undecided: neither passed nor failed."""
    cand_open: int = 0

    @property
    def swapped(self) -> "SliceRow":
        """The same with the sides exchanged."""
        return SliceRow(
            slice=self.slice,
            base_runs=self.cand_runs, base_passed=self.cand_passed, base_open=self.cand_open,
            cand_runs=self.base_runs, cand_passed=self.base_passed, cand_open=self.base_open,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """How much of a change comes from other inputs, and how much from other behaviour."""

    name: str
    """The slice."""
    effects: MixAndRate | None
    """None while runs are undecided."""
    standardised: float | None
    """The new version's share of passes at the mix of the old one; None while runs are undecided."""
    adjusted: Difference
    """New less old inside the slices of each week, each with the same weight on both sides."""
    rows: Sequence[SliceRow]

    @property
    def open(self) -> int:
        """Undecided runs of both sides."""
        return sum(row.base_open + row.cand_open for row in self.rows)

    @property
    def why_nothing(self) -> str:
        """Why the change has no parts, or ''."""
        if not self.open:
            return ""
        runs = sum(row.base_runs + row.cand_runs for row in self.rows)
        return (
            f"{self.open} of {runs} runs are undecided, neither passed nor failed: how much of"
            f" the change is another mix of {self.name} is not known yet"
        )

    @property
    def swapped(self) -> "Mix":
        """The same with the sides exchanged."""
        rows = [row.swapped for row in self.rows]
        effects, standard = (None, None) if self.open else _parted(rows)
        return Mix(
            name=self.name,
            effects=effects,
            standardised=standard,
            adjusted=swapped(self.adjusted),
            rows=rows,
        )

    def as_json(self) -> JsonValue:
        """Return mix beside rate; they add to the change."""
        parts = self.effects
        return {
            "slice": self.name,
            "mix": None if parts is None else parts.mix,
            "rate": None if parts is None else parts.rate,
            "total": None if parts is None else parts.total,
            "standardised": self.standardised,
            "open": self.open,
            "text": self.why_nothing,
            "adjusted": self.adjusted.as_json(),
            "rows": [
                {name: getattr(row, name) for name in SliceRow.__dataclass_fields__}
                for row in self.rows
            ],
        }


def mix(
    cells: Sequence[Cell], name: str, pair: Pair, *, clusters: Sequence[Alike] | None = None
) -> Mix | None:
    """Return mix and rate over slices in the common weeks; None without a run on a side.

    A slice that only one version has tells nothing about its rate: it counts as mix alone.
    clusters: where runs come in them, those of the common weeks. Undecided runs are neither
    passed nor failed: mix and rate have no value then, and the adjusted difference only bounds.
    It compares a slice of a week with the same slice of the same week.
    """
    sides = {"base": pair.base, "cand": pair.cand}
    weeks, _ = common(cells, **sides)
    kept = [c for c in cells if c.week in weeks and c.version in sides.values()]
    rows = _rows(kept, **sides)
    if not rows:
        return None
    undecided = any(cell.undecided for cell in kept)
    effects, standard = (None, None) if undecided else _parted(rows)
    over = "weeks and slices" if len(weeks) > 1 else "slices"
    adjusted = inside(kept, "stratum", over, pair, clusters=clusters, excluded=_only(kept, pair))
    return Mix(
        name=name, effects=effects, standardised=standard, adjusted=adjusted, rows=rows
    )  # fmt: skip


def _rows(cells: Sequence[Cell], *, base: str, cand: str) -> list[SliceRow]:
    """Return the slices; none unless both versions have runs."""
    settled = summed(cells, "slice", base=base, cand=cand)
    if not all(any(week[place] for week in settled.values()) for place in (1, 3)):
        return []
    undecided = {
        (cell.slice, version): sum(
            c.undecided for c in cells if c.slice == cell.slice and c.version == version
        )
        for cell in cells
        for version in (base, cand)
    }
    return [
        SliceRow(
            slice=value,
            cand_passed=x1, cand_runs=n1, cand_open=undecided[value, cand],
            base_passed=x0, base_runs=n0, base_open=undecided[value, base],
        )
        for value, (x1, n1, x0, n0) in sorted((str(name), week) for name, week in settled.items())
    ]  # fmt: skip


def _parted(rows: Sequence[SliceRow]) -> tuple[MixAndRate, float]:
    """Return mix and rate, and the new version's rate at the mix of the old one."""
    n0, n1 = sum(row.base_runs for row in rows), sum(row.cand_runs for row in rows)
    w0, w1 = [row.base_runs / n0 for row in rows], [row.cand_runs / n1 for row in rows]
    base = [(row.base_passed, row.base_runs) for row in rows]
    cand = [(row.cand_passed, row.cand_runs) for row in rows]
    p0 = [_rate(*own, *other) for own, other in zip(base, cand, strict=True)]
    p1 = [_rate(*own, *other) for own, other in zip(cand, base, strict=True)]
    return mix_and_rate(w0, p0, w1, p1), standardised(w0, p1)


def _only(cells: Sequence[Cell], pair: Pair) -> dict[str, int]:
    """Return the runs in slices of weeks that only one version has, by reason."""
    both = set(in_both(cells, "stratum", base=pair.base, cand=pair.cand))
    left = {
        f"slices_of_{name}_only": sum(c.runs for c in cells if c.version == version and c not in both)
        for name, version in (("base", pair.base), ("cand", pair.cand))
    }  # fmt: skip
    return {reason: runs for reason, runs in left.items() if runs}


def _rate(x: int, n: int, other_x: int, other_n: int) -> float:
    return x / n if n else other_x / other_n
