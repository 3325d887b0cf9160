"""JSON Schemas that people write: checked when read, and never fetched from anywhere."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from gnomon.model import JsonValue
from scoring.policies.patterns import found
from scoring.policies.references import wrong_parts
from scoring.policies.sameness import identity

Place = tuple[int | str, ...]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def wrong_schema(schema: Mapping[str, JsonValue]) -> tuple[Place, str] | None:
    """Return where and why a JSON Schema is none or can not be used, or None."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    said = schema.get("$schema", DIALECT)
    if not (isinstance(said, str) and said.removesuffix("#") == DIALECT):
        return ("$schema",), f"schemas are read as {DIALECT}; write that, or leave $schema out"
    try:
        for place, number in _numbers(schema):
            if not math.isfinite(number):
                return place, "Infinity and NaN are no JSON numbers; write a finite one"
        # No formats: the one that matters, `regex`, is asked of the engine that will match.
        Draft202012Validator.check_schema(schema, format_checker=None)  # type: ignore[arg-type]
        return wrong_parts(_undeclared(schema))
    except SchemaError as error:
        return tuple(error.absolute_path), f"no JSON Schema: {error.message}"
    except RecursionError:
        return (), "the schema is nested too deep to be meant"


def validator_of(schema: Mapping[str, JsonValue]) -> Any:
    """Return what validates; a reference that leads outside is not followed."""
    from referencing import Registry

    return _linear()(_undeclared(schema), registry=Registry())


def complaints(validator: Any, value: JsonValue, *, whole: str) -> list[str]:
    """Return what a value breaks, by place and keyword, without repeating what was written."""
    return sorted(
        {
            f"{'.'.join(str(part) for part in error.absolute_path) or whole}"
            f" breaks {error.validator}"
            for error in validator.iter_errors(value)
        }
    )


def _numbers(value: JsonValue, place: Place = ()) -> Iterator[tuple[Place, float]]:
    """Yield every number of a schema with its place."""
    match value:
        case float():
            yield place, value
        case dict():
            for key, inner in value.items():
                yield from _numbers(inner, (*place, key))
        case list():
            for number, inner in enumerate(value):
                yield from _numbers(inner, (*place, number))
        case _:
            return


def _undeclared(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return a schema without `$schema`: by that word jsonschema would take its own validator."""
    return {key: value for key, value in schema.items() if key != "$schema"}


@cache
def _linear() -> Any:
    """Return the validator whose expressions are matched in linear time; formats are not checked.

    The first three keywords below read patterns. `unevaluatedProperties` does, too: beside
    `patternProperties` it is refused when the schema is read. `uniqueItems` compares objects pair
    by pair where it comes from, which a long list keeps busy as well.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "multipleOf": _multiple_of,
    }
    return extend(Draft202012Validator, validators=own)  # type: ignore[no-untyped-call]


def _pattern(validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if validator.is_type(value, "string") and not found(pattern, value):
        yield ValidationError("does not match")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], value: Any, _schema: Any
) -> Iterator[Any]:
    if not validator.is_type(value, "object"):
        return
    for pattern, schema in patterns.items():
        for key, inner in value.items():
            if found(pattern, key):
                yield from validator.descend(inner, schema, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, rule: Any, value: Any, schema: Mapping[str, Any]
) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not validator.is_type(value, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extra = [
        key for key in value if key not in named and not any(found(one, key) for one in patterns)
    ]
    if validator.is_type(rule, "object"):
        for key in extra:
            yield from validator.descend(value[key], rule, path=key)
    elif not rule and extra:
        yield ValidationError("more properties than allowed")


def _multiple_of(validator: Any, of: float, value: Any, _schema: Any) -> Iterator[Any]:
    """Compare as decimals: 0.3 is a multiple of 0.1, and no number is too large to divide."""
    from jsonschema import ValidationError

    if not validator.is_type(value, "number"):
        return
    try:
        rest = _exact(value) % _exact(of)
    except (ValueError, OverflowError):  # the value is no finite number: a multiple of nothing
        rest = Fraction(1)
    if rest:
        yield ValidationError("is no multiple")


def _exact(number: float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _unique_items(validator: Any, rule: Any, value: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if (
        rule
        and validator.is_type(value, "array")
        and len({identity(one) for one in value}) < len(value)
    ):
        yield ValidationError("an item stands twice")
