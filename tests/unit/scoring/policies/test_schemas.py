import pytest

from scoring.policies.schemas import DIALECT, complaints, validator_of, wrong_schema


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
        ({"$ref": "#"}, ("$ref",), "without end"),
        (
            {
                "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}},
                "properties": {"x": {"$ref": "#/$defs/a"}},
            },
            ("$defs", "a", "allOf", 0, "$ref"),
            "without end",
        ),
        ({"properties": {"a": {"$dynamicRef": "#no"}}}, ("properties", "a", "$dynamicRef"), "no"),
        (
            {"$dynamicAnchor": "n", "anyOf": [{"$dynamicRef": "#n"}]},
            ("anyOf", 0),
            "without end",
        ),
        ({"items": {"$recursiveRef": "#"}}, ("items", "$recursiveRef"), "write $ref: '#'"),
        ({"$ref": "#/required", "required": ["a"]}, ("$ref",), "no schema"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, ("$schema",), "leave $schema out"),
        ({"items": {"$schema": DIALECT}}, ("items", "$schema"), "at the top"),
        ({"items": {"pattern": "(?=a)b"}}, ("items", "pattern"), "look-around"),
        ({"pattern": r"(a)\1"}, ("pattern",), "back-references"),
        ({"pattern": "a" * 3_000}, ("pattern",), "2000 are the most"),
        (
            {"patternProperties": {"[": True}},
            ("patternProperties", "["),
            "no regular expression",
        ),
        (
            {"patternProperties": {"a": True}, "unevaluatedProperties": False},
            ("unevaluatedProperties",),
            "write additionalProperties",
        ),
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


EVIL = "a" * 50_000 + "!"


@pytest.mark.parametrize(
    ("schema", "value", "broken"),
    [
        ({"pattern": "^(a+)+$"}, EVIL, ["it breaks pattern"]),
        ({"patternProperties": {"^(a+)+$": False}}, {EVIL: 1}, []),
        (
            {"patternProperties": {"^(a+)+$": True}, "additionalProperties": False},
            {EVIL: 1},
            ["it breaks additionalProperties"],
        ),
        (
            {"$schema": DIALECT, "properties": {"x": {"$ref": "#/$defs/x"}}}
            | {"$defs": {"x": {"pattern": "^(a+)+$"}}},
            {"x": EVIL},
            ["x breaks pattern"],
        ),
        (
            {"$schema": DIALECT, "items": {"$ref": "#"}, "pattern": "^(a+)+$"},
            [EVIL],
            ["0 breaks pattern"],
        ),
    ],
)
@pytest.mark.timeout(20)
def test_no_text_keeps_an_expression_busy(
    schema: dict[str, object], value: object, broken: list[str]
) -> None:
    assert wrong_schema(schema) is None
    assert complaints(validator_of(schema), value, whole="it") == broken


def test_properties_are_told_apart_by_name_and_expression() -> None:
    schema = {
        "properties": {"a": {}},
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": {"type": "integer"},
    }
    validator = validator_of(schema)
    assert complaints(validator, {"a": None, "x-b": "t", "c": 1}, whole="it") == []
    assert complaints(validator, {"x-b": 1, "c": "t"}, whole="it") == [
        "c breaks type",
        "x-b breaks type",
    ]


def test_half_a_character_is_matched_like_any_text() -> None:
    assert complaints(validator_of({"pattern": "^.$"}), "\ud800", whole="it") == []


def test_a_tree_by_dynamic_reference_ends_with_its_value() -> None:
    tree = {"$dynamicAnchor": "node", "type": "array", "items": {"$dynamicRef": "#node"}}
    assert wrong_schema(tree) is None
    assert complaints(validator_of(tree), [[1]], whole="it") == ["0.0 breaks type"]


@pytest.mark.parametrize(
    ("items", "unique"),
    [
        ([1, 1.0], False),
        ([1, True, "1", None, 0, False, "true"], True),
        ([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], False),
        ([{"a": 1}, {"a": True}, [1], [True]], True),
        ([{"number": number} for number in range(50_000)], True),
    ],
)
@pytest.mark.timeout(20)
def test_items_are_unique_as_json_says_however_many_there_are(
    items: list[object], unique: bool
) -> None:
    told = complaints(validator_of({"uniqueItems": True}), items, whole="it")
    assert told == ([] if unique else ["it breaks uniqueItems"])


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize("keyword", ["multipleOf", "minimum", "exclusiveMaximum", "const"])
def test_numbers_that_json_does_not_have_are_refused_where_they_stand(
    keyword: str, number: float
) -> None:
    assert wrong_schema({"properties": {"amount": {keyword: number}}}) == (
        ("properties", "amount", keyword),
        "Infinity and NaN are no JSON numbers; write a finite one",
    )


@pytest.mark.parametrize(
    ("value", "of", "multiple"),
    [
        (0.3, 0.1, True),
        (0.35, 0.1, False),
        (10**400, 3, False),
        (10**400, 0.5, True),
        (1e308, 10**400, False),
        (float("inf"), 2, False),
        (float("nan"), 0.5, False),
        (True, 2, True),
    ],
)
def test_multiples_are_told_in_decimals_of_any_size(
    value: float, of: float, multiple: bool
) -> None:
    told = complaints(validator_of({"multipleOf": of}), value, whole="it")
    assert told == ([] if multiple else ["it breaks multipleOf"])
