"""The whole dialect table, indexed by attribute: which keys fill which fields, in which order.

The rules themselves stand in kinds, names, models, usage and failures. Reading a span costs time
in the number of its attributes, not in the number of rules: its known keys decide a plan (which
sources may fill which field, best first), and plans are remembered, since a library sends the
same keys again and again.
"""

from collections.abc import Iterable

from collector.dialects.facts import Facts
from collector.dialects.failures import ERRORS
from collector.dialects.keysets import Keys, OfKeys
from collector.dialects.models import MODELS
from collector.dialects.names import NAMES
from collector.dialects.rules import Field, Place, Source
from collector.dialects.usage import USAGE
from gnomon.model import Kind

FIELDS: tuple[Field, ...] = (*NAMES, *MODELS, *USAGE, *ERRORS)

MAX_PLANS = 4_096
"""Plans remembered; more sets of keys than that start again from none."""

Plan = tuple[tuple[str, tuple[Source, ...]], ...]
"""For each field that may be filled: its name and the sources to try, best first."""

_Case = tuple[Kind, bool, tuple[str, ...], tuple[str, ...]]
"""Kind, outcome, known keys of the resource, known keys of the span."""

_Hit = tuple[int, int, Source]
"""Number of the field, rank of the source in it, the source."""


class Index:
    """The table turned round: from where something lies to the fields it feeds."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self._names: list[str] = []
        self._attributes: dict[str, list[_Hit]] = {}
        self._resource: dict[str, list[_Hit]] = {}
        self._families: dict[str, list[_Hit]] = {}
        self._span: list[_Hit] = []
        self._plans: dict[_Case, Plan] = {}
        self._known = OfKeys(self._known_of)
        for number, field in enumerate(fields):
            self._names.append(field.name)
            for rank, source in enumerate(field.sources):
                self._add((number, rank, source))

    def _add(self, hit: _Hit) -> None:
        source = hit[2]
        match source.place:
            case Place.ATTRIBUTE:
                self._attributes.setdefault(source.key, []).append(hit)
            case Place.FAMILY:
                self._families.setdefault(f"{source.key}.", []).append(hit)
            case Place.RESOURCE:
                self._resource.setdefault(source.key, []).append(hit)
            case Place.SPAN:
                self._span.append(hit)

    @property
    def keys(self) -> frozenset[str]:
        """All attributes of spans that some field is read from."""
        return frozenset(self._attributes)

    def plan(self, facts: Facts) -> Plan:
        """Return what to try for a span of this kind and outcome that has these keys."""
        known = self._known(facts.attributes)
        around = tuple([key for key in self._resource if key in facts.resource])
        case = (facts.kind, facts.failed, around, known)
        plan = self._plans.get(case)
        if plan is None:
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
            plan = self._plans[case] = self._planned(*case)
        return plan

    def _known_of(self, keys: Keys) -> Keys:
        """Return which of these keys some source reads, and the families that have members."""
        known = [key for key in keys if key in self._attributes]
        families = [one for one in self._families if any(key.startswith(one) for key in keys)]
        return (*known, *families)

    def _planned(
        self, kind: Kind, failed: bool, around: tuple[str, ...], known: tuple[str, ...]
    ) -> Plan:
        hits = list(self._span)
        for key in known:
            hits += self._attributes.get(key) or self._families[key]
        for key in around:
            hits += self._resource[key]
        found: dict[int, list[Source]] = {}
        for number, _, source in sorted(hits, key=lambda hit: hit[:2]):
            if source.only.allows(kind, failed=failed):
                found.setdefault(number, []).append(source)
        return tuple((self._names[number], tuple(own)) for number, own in found.items())


INDEX = Index(FIELDS)
