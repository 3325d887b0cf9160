import pytest

from scoring.policies.schemas import complaints, validator_of, wrong_schema


@pytest.mark.parametrize(
    ("schema", "place", "why"),
    [
        ({"type": 7}, ("type",), "no JSON Schema"),
        ({"$ref": "http://schemas.test/order"}, ("$ref",), "leads nowhere"),
        (
            {"properties": {"a": {"$ref": "#/$defs/x"}}},
            ("properties", "a", "$ref"),
            "leads nowhere",
        ),
        ({"anyOf": [{"$ref": "file:///etc/passwd"}]}, ("anyOf", 0, "$ref"), "leads nowhere"),
        ({"$ref": "#"}, (), "without end"),
    ],
)
def test_a_schema_that_can_not_be_used_is_refused_when_it_is_read(
    schema: dict[str, object], place: tuple[object, ...], why: str
) -> None:
    found = wrong_schema(schema)
    assert found is not None
    assert found[0] == place
    assert why in found[1]


def test_a_schema_may_refer_to_its_own_parts() -> None:
    schema = {
        "$defs": {"order": {"pattern": "^O-"}, "tree": {"items": {"$ref": "#/$defs/tree"}}},
        "properties": {"order": {"$ref": "#/$defs/order"}, "tree": {"$ref": "#/$defs/tree"}},
    }
    assert wrong_schema(schema) is None
    validator = validator_of(schema)
    assert complaints(validator, {"order": "x"}, whole="it") == ["order breaks pattern"]
    assert complaints(validator, {"order": "O-1", "tree": [[[]]]}, whole="it") == []


def test_what_people_wrote_is_never_repeated() -> None:
    told = complaints(validator_of({"maxLength": 3}), "a secret", whole="the message")
    assert told == ["the message breaks maxLength"]
