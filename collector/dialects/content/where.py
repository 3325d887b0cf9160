"""Which attribute the large bodies of a step are read from, for those who ask why."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from collector.dialects.content import sources
from collector.dialects.content.bodies import read_bodies
from collector.dialects.content.sources import Place
from collector.dialects.content.tools import tool_call
from collector.spans import LogRecord, Span
from gnomon.model import Kind


class Body(NamedTuple):
    """One body of a step: its field, its text, and the attribute it was read from."""

    field: str
    text: str
    key: str


def bodies_told(span: Span, kind: Kind, logs: Sequence[LogRecord]) -> Iterator[Body]:
    """Yield input, output and system of a span with their attributes, as `read_bodies` reads them."""
    bodies = read_bodies(span, kind, logs)
    place = Place(span, logs)
    call = tool_call(span, kind, logs).keys if kind is Kind.TOOL else {}
    if bodies.input:
        key = call.get("arguments") or _key(place, sources.INPUT)
        yield Body("input", bodies.input, key)
    if bodies.output:
        key = call.get("result") or _key(place, sources.OUTPUT)
        yield Body("output", bodies.output, key)
    if bodies.system:
        yield Body("system", bodies.system, "gen_ai.system_instructions")


def _key(place: Place, places: Sequence[sources.Source]) -> str:
    told = sources.first_told(place, places)
    return "" if told is None else told[0].key_in(place)
