"""What is added up over runs: which parts, ratios and totals, and where each stands in the sums."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scoring.metrics.parts import BY_TASK, PARTS, PULSE, PULSE_PARTS, PULSE_TOTALS, RATIOS, TOTALS


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Parts, ratios and totals by name. Sums come as lists: of each part, then of each amount."""

    parts: Sequence[str]
    ratios: Sequence[str]
    totals: Sequence[str]
    values: bool = True
    """Whether the sorted values come along that quantiles need."""

    def counts(self) -> list[str]:
        """Return what one run counts, as SQL: 1 for each part it is in, then its amounts."""
        # As floats all through: an amount may be money, and one list holds one type.
        return [
            *(f"toFloat64(is_{name})" for name in self.parts),
            *(f"if(is_{part}, toFloat64({amount}), 0)" for _, amount, part in self._amounts()),
        ]

    def amounts(self) -> list[str]:
        """Return what one run adds to each total, as SQL: whole numbers."""
        return [f"toInt64({TOTALS[name]})" for name in self.totals]

    def bases(self) -> list[int]:
        """Return where the denominator of each ratio stands among the counts; the first is 1."""
        return [m for m, _ in self.places()]

    def hits(self) -> list[int]:
        """Return where the numerator of each ratio stands among the counts; the first is 1."""
        return [y for _, y in self.places()]

    def places(self) -> list[tuple[int, int]]:
        """Return denominator and numerator of each ratio."""
        names = [*self.parts, *(name for name, _, _ in self._amounts())]
        at = {name: place for place, name in enumerate(names, start=1)}
        found = []
        for name in self.ratios:
            ratio = RATIOS[name]
            own = ratio.amount or ratio.actions is not None
            found.append(
                (
                    at[f"per {name}" if ratio.actions else ratio.m],
                    at[f"of {name}" if own else ratio.y],
                )
            )
        return found

    def own(self) -> list[str]:
        """Return the ratios of which every unit's own share is added up as well."""
        return [name for name in self.ratios if name in BY_TASK]

    def own_places(self) -> list[tuple[int, int]]:
        """Return denominator and numerator of each of them."""
        places = dict(zip(self.ratios, self.places(), strict=True))
        return [places[name] for name in self.own()]

    def _amounts(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, expression and the part over which it is added up."""
        for name in self.ratios:
            ratio = RATIOS[name]
            if ratio.amount:
                yield f"of {name}", ratio.y, ratio.m
            if ratio.actions is not None:
                yield f"of {name}", ratio.actions[0], ratio.m
                yield f"per {name}", ratio.actions[1], ratio.m


WHOLE = Asked(parts=tuple(PARTS), ratios=tuple(RATIOS), totals=tuple(TOTALS))
"""All there is."""

_USED = {part for name in PULSE for part in (RATIOS[name].m, RATIOS[name].y)} | PULSE_PARTS

FIRST = Asked(
    parts=tuple(name for name in PARTS if name in _USED),
    ratios=PULSE,
    totals=PULSE_TOTALS,
    values=False,
)
"""What the first page asks for every few seconds."""
