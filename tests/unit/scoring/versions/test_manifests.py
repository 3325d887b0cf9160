from scoring.versions.manifests import Manifests, PinRow, manifests


def made(*rows: tuple[str, str, str, int], old: int = 10, new: int = 10) -> Manifests:
    pins = [PinRow(version=v, pin=pin, value=value, runs=runs) for v, pin, value, runs in rows]
    return manifests(pins, {"old": old, "new": new}, base="old", cand="new")


def test_one_changed_pin_is_no_reason_to_warn() -> None:
    found = made(("old", "model", "a", 10), ("new", "model", "b", 10))
    assert found.changed == ["model"]
    assert found.warning == ""


def test_more_than_one_changed_pin_says_which() -> None:
    found = made(
        ("old", "model", "a", 10), ("new", "model", "b", 10),
        ("old", "prompt", "refund@7", 10), ("new", "prompt", "refund@8", 10),
        ("old", "tools", "t", 10), ("new", "tools", "t", 10),
        ("old", "agent_version", "old", 10), ("new", "agent_version", "new", 10),
    )  # fmt: skip
    assert found.changed == ["model", "prompt"]
    assert found.warning.startswith("2 pins changed at once (model, prompt)")


def test_runs_of_each_value_are_counted_and_those_that_do_not_tell() -> None:
    found = made(("old", "model", "a", 7), ("new", "model", "a", 6), ("new", "model", "b", 4))
    (pin,) = found.pins
    assert pin.base == {"a": 7, "": 3}
    assert pin.cand == {"a": 6, "b": 4}
    assert pin.mixed
    assert pin.changed


def test_without_pins_nothing_is_known_and_nothing_claimed() -> None:
    assert made().as_json() == {"pins": [], "changed": [], "warning": ""}


def test_a_version_without_runs_has_changed_nothing() -> None:
    found = made(
        ("old", "model", "a", 10), ("old", "prompt", "7", 10), ("old", "tools", "t", 10), new=0
    )
    assert found.changed == []
    assert found.warning == ""
    assert not any(pin.known for pin in found.pins)


def test_a_pin_that_one_side_does_not_tell_is_unknown_and_not_changed() -> None:
    found = made(("old", "model", "a", 10), ("new", "model", "b", 10), ("new", "prompt", "8", 10))
    assert found.changed == ["model"]
    prompt = next(pin for pin in found.pins if pin.name == "prompt")
    assert not prompt.known


def test_an_application_named_after_the_version_is_no_pin_of_its_own() -> None:
    named = made(("old", "application", "desk old", 10), ("new", "application", "desk new", 10))
    assert named.changed == []
    other = made(("old", "application", "desk 1.0", 10), ("new", "application", "desk 1.1", 10))
    assert other.changed == ["application"]
