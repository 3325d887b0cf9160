"""JSON Schemas that people write: checked when read, and never fetched from anywhere."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.model import JsonValue

Place = tuple[int | str, ...]


def wrong_schema(schema: Mapping[str, JsonValue]) -> tuple[Place, str] | None:
    """Return where and why a JSON Schema is none, or None."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return tuple(error.absolute_path), f"no JSON Schema: {error.message}"
    whole = DRAFT202012.create_resource(dict(schema))
    resolver = Registry().with_resource("", whole).resolver()
    for place, reference in _references(schema):
        try:
            resolver.lookup(reference)
        except Unresolvable:
            return place, f"$ref {reference} leads nowhere; it must stay inside, as #/$defs/order"
    try:
        list(validator_of(schema).iter_errors(None))
    except RecursionError:
        return (), "the schema refers to itself without end"
    return None


def validator_of(schema: Mapping[str, JsonValue]) -> Any:
    """Return what validates; a reference that leads outside is not followed."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    return Draft202012Validator(schema, registry=Registry())


def complaints(validator: Any, value: JsonValue, *, whole: str) -> list[str]:
    """Return what a value breaks, by place and keyword, without repeating what was written."""
    return sorted(
        {
            f"{'.'.join(str(part) for part in error.absolute_path) or whole}"
            f" breaks {error.validator}"
            for error in validator.iter_errors(value)
        }
    )


def _references(value: JsonValue, place: Place = ()) -> Iterator[tuple[Place, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "$ref" and isinstance(inner, str):
                yield (*place, key), inner
            else:
                yield from _references(inner, (*place, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _references(inner, (*place, number))
