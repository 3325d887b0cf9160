"""The whole dialect table, indexed by attribute: which keys fill which fields, in which order.

The rules themselves stand in kinds, names, models, usage and failures. Reading a span costs time
in the number of its attributes, not in the number of rules: each attribute looks up the sources
it feeds, and the rank of a source inside its field decides what is tried first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collector.dialects.failures import ERRORS
from collector.dialects.models import MODELS
from collector.dialects.names import NAMES
from collector.dialects.rules import Field, Place, Source
from collector.dialects.usage import USAGE

FIELDS: tuple[Field, ...] = (*NAMES, *MODELS, *USAGE, *ERRORS)

VERSION = 1
"""Raised when the table changes what an old span means."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A source that may fill a field of the span at hand."""

    field: str
    rank: int
    source: Source


@dataclass(frozen=True, slots=True)
class Index:
    """The table turned round: from where something lies to the fields it feeds."""

    by_attribute: Mapping[str, tuple[Hit, ...]]
    by_resource: tuple[Hit, ...]
    by_span: tuple[Hit, ...]


def index_of(fields: Iterable[Field]) -> Index:
    """Turn the table round."""
    attributes: dict[str, list[Hit]] = {}
    resources: list[Hit] = []
    spans: list[Hit] = []
    for field in fields:
        for rank, source in enumerate(field.sources):
            hit = Hit(field.name, rank, source)
            match source.place:
                case Place.ATTRIBUTE:
                    attributes.setdefault(source.key, []).append(hit)
                case Place.RESOURCE:
                    resources.append(hit)
                case Place.SPAN:
                    spans.append(hit)
    return Index(
        by_attribute={key: tuple(hits) for key, hits in attributes.items()},
        by_resource=tuple(resources),
        by_span=tuple(spans),
    )


INDEX = index_of(FIELDS)
