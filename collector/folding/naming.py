"""How gnomon.yaml names things, made ready for reading: configured attributes come first."""

from dataclasses import dataclass
from functools import lru_cache

from collector.dialects.rules import Field, Source, keys, quoted, resource
from collector.dialects.table import FIELDS, INDEX, Index
from collector.folding.business import BusinessKeys
from collector.watched import KeySource, RunNaming, Watched

CONFIGURED = "configured"
"""Stands where a rule number stands when gnomon.yaml named the attribute."""

_Names = tuple[str, ...]

_TASK = {"task_id": KeySource(attributes=("gnomon.task_id",))}
"""The business key that names a task, unless gnomon.yaml finds it elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What the reading of a span needs of the configuration."""

    index: Index
    business_keys: BusinessKeys


def naming_of(watched: Watched) -> Naming:
    """Return the table with the configured attributes in front, and the business keys."""
    return Naming(
        index=_index_for(watched.runs),
        business_keys=BusinessKeys({**_TASK, **watched.business_keys}),
    )


def _index_for(runs: RunNaming) -> Index:
    named = (
        ("run_id", runs.run_id),
        ("conversation_id", runs.conversation),
        ("user_id", runs.user),
        ("agent_name", runs.agent),
        ("agent_version", runs.version),
        ("environment", runs.environment),
    )
    configured = tuple((field, names) for field, names in named if names)
    return _index_with(configured) if configured else INDEX


@lru_cache(maxsize=16)
def _index_with(configured: tuple[tuple[str, _Names], ...]) -> Index:
    known = {field.name: field.sources for field in FIELDS}
    for name, attributes in configured:
        known[name] = _sources(attributes) + known.get(name, ())
    return Index(Field(name, sources) for name, sources in known.items())


def _sources(attributes: _Names) -> tuple[Source, ...]:
    found: list[Source] = []
    for name in attributes:
        found += keys(CONFIGURED, name, take=quoted)
        found += resource(CONFIGURED, name)
    return tuple(found)
