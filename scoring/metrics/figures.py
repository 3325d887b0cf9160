"""What a metric looks like: numbers with their limits and their runs, never without the guard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gnomon.model import JsonValue
from scoring.metrics.scope import Link
from scoring.stats.results import Rate, Shown

NOT_ENOUGH = "not_enough_data"
PARTIAL = "partial"
LOWER_BOUND = "lower_bound"
"""Flag of an amount of which a part is not known: it is at least this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number, the runs behind it, and what a reader must be told."""

    shown: Shown
    link: Link | None = None
    """The runs the number is about (its denominator)."""
    hits: Link | None = None
    """Of those, the runs that count (the numerator of a share)."""
    text: str = ""
    """Why there is no number, or what is odd about it."""
    missing: Sequence[str] = ()
    """Fields without which there is no number."""

    def __post_init__(self) -> None:
        if self.missing and self.shown.value is not None:
            raise ValueError("a number whose input is missing is None")

    def as_json(self) -> dict[str, JsonValue]:
        """Return the number with everything beside it in one object."""
        return {
            **self.shown.as_json(),
            "text": self.text,
            "missing": list(self.missing),
            "link": None if self.link is None else self.link.as_json(),
            "hits": None if self.hits is None else self.hits.as_json(),
        }

    def flagged(self, flag: str, text: str = "") -> "Figure":
        """Return this figure with one more flag."""
        if flag in self.shown.flags:
            return self
        shown = replace(self.shown, flags=(*self.shown.flags, flag))
        return replace(self, shown=shown, text="; ".join(t for t in (self.text, text) if t))

    def at_least(self, text: str) -> "Figure":
        """Return this figure as a lower bound: nobody knows how much more it is."""
        shown = replace(self.shown, high=None)
        return replace(self, shown=shown).flagged(LOWER_BOUND, text)

    def saying(self, text: str) -> "Figure":
        """Return this figure with a text before what it says."""
        return replace(self, text="; ".join(t for t in (text, self.text) if t))

    def withheld(self, text: str) -> "Figure":
        """Return this figure without its number: NOT ENOUGH DATA."""
        return replace(self.without_number(), text="").flagged(NOT_ENOUGH, text)

    def without_number(self) -> "Figure":
        """Return this figure with its n and what is left out, and no number."""
        whole = isinstance(self.shown, Rate)
        bare = replace(
            self.shown, value=None, low=0.0 if whole else None, high=1.0 if whole else None
        )
        return replace(self, shown=bare)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A metric: its number, and the numbers that keep it honest. There is no other way to it."""

    name: str
    definition: str
    measure: Figure
    guard: Mapping[str, Figure]
    beside: Mapping[str, Figure] = field(default_factory=dict)
    """Further numbers of the same metric, such as the p90 beside the median."""

    def __post_init__(self) -> None:
        if not self.guard:
            raise ValueError(f"metric {self.name} has no guard")

    def as_json(self) -> dict[str, JsonValue]:
        """Return metric and guard in one object."""
        return {
            "name": self.name,
            "definition": self.definition,
            **self.measure.as_json(),
            "beside": {name: figure.as_json() for name, figure in self.beside.items()},
            "guard": {name: figure.as_json() for name, figure in self.guard.items()},
        }
