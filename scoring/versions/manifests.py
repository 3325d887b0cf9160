"""What two versions were made with: more than one changed pin, and nobody knows which one did it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gnomon.model import JsonValue

OWN_NAME = "agent_version"
"""The pin that only repeats the name of the version."""

NAMED_AFTER = "application"
"""The pin that may do so: service and its version, which often is the agent's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinRow:
    """So many runs of a version carry this value of a pin."""

    version: str
    pin: str
    value: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One pin on both sides: runs by value; '' counts the runs that do not tell theirs."""

    name: str
    base: Mapping[str, int]
    cand: Mapping[str, int]

    @property
    def known(self) -> bool:
        """Whether both sides tell theirs; of a side that tells nothing nobody knows."""
        return bool(_told(self.base)) and bool(_told(self.cand))

    @property
    def changed(self) -> bool:
        """Whether both sides tell theirs, and differ."""
        return self.known and _told(self.base) != _told(self.cand)

    @property
    def mixed(self) -> bool:
        """Whether one side ran with several values."""
        return len(_told(self.base)) > 1 or len(_told(self.cand)) > 1

    def as_json(self) -> JsonValue:
        """Return the pin as the API writes it."""
        return {
            "name": self.name,
            "changed": self.changed,
            "known": self.known,
            "mixed": self.mixed,
            "base": dict(self.base),
            "cand": dict(self.cand),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifests:
    """All pins of two versions."""

    pins: Sequence[Pin]
    base: str = ""
    cand: str = ""

    @property
    def changed(self) -> Sequence[str]:
        """Names of the pins that changed, the version's own name left out."""
        return [pin.name for pin in self.pins if pin.changed and not self._own_name(pin)]

    def _own_name(self, pin: Pin) -> bool:
        if pin.name != NAMED_AFTER:
            return pin.name == OWN_NAME
        stems = [
            {value.removesuffix(version) for value in _told(values)}
            for values, version in ((pin.base, self.base), (pin.cand, self.cand))
        ]
        return stems[0] == stems[1]

    @property
    def warning(self) -> str:
        """What a reader of the comparison must be told; '' when one pin or none changed."""
        if len(self.changed) < 2:
            return ""
        return (
            f"{len(self.changed)} pins changed at once ({', '.join(self.changed)}): the difference"
            " cannot be given to one of them; change one at a time to know"
        )

    def as_json(self) -> JsonValue:
        """Return the pins as the API writes them."""
        return {
            "pins": [pin.as_json() for pin in self.pins],
            "changed": list(self.changed),
            "warning": self.warning,
        }


def _told(values: Mapping[str, int]) -> set[str]:
    return {value for value in values if value}


def manifests(
    rows: Iterable[PinRow], runs: Mapping[str, int], *, base: str, cand: str
) -> Manifests:
    """Return the pins of two versions side by side; `runs`: all runs of each version."""
    by_pin: dict[str, dict[str, dict[str, int]]] = {}
    for row in rows:
        sides = by_pin.setdefault(row.pin, {base: {}, cand: {}})
        sides.setdefault(row.version, {})[row.value] = row.runs
    return Manifests(
        base=base,
        cand=cand,
        pins=[
            Pin(
                name=name,
                base=_with_untold(sides[base], runs.get(base, 0)),
                cand=_with_untold(sides[cand], runs.get(cand, 0)),
            )
            for name, sides in sorted(by_pin.items())
        ],
    )


def _with_untold(values: Mapping[str, int], runs: int) -> dict[str, int]:
    untold = runs - sum(values.values())
    return {**values, "": untold} if untold > 0 else dict(values)
