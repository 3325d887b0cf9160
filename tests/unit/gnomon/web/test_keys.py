"""Keys, badges, sheet and handlers agree, and no key means two things in one place."""

import re

import pytest

from gnomon.web.assets import load
from gnomon.web.frame import ENTRIES
from gnomon.web.keys import KEYS, badge

APP = load().plain["app.js"].body.decode()


@pytest.mark.parametrize("context", KEYS)
def test_no_key_means_two_things_in_one_place(context: str) -> None:
    own = [key.keys for key in KEYS[context]]  # type: ignore[index]
    everywhere = [key.keys for key in KEYS["everywhere"]]
    pressed = own if context == "everywhere" else [*own, *everywhere]
    assert len(pressed) == len(set(pressed))


def test_every_key_has_a_handler_and_every_handler_a_key() -> None:
    body = APP[APP.index("const acts = {") : APP.index("const sheet = all(")]
    handlers = set(re.findall(r"^    (?:async )?(\w+)(?:\(|:)", body, flags=re.MULTILINE))
    assert {key.act for keys in KEYS.values() for key in keys} == handlers


def test_tree_keys_name_moves_that_exist() -> None:
    known = set(re.findall(r"^    (\w+)(?:: |\()", APP[APP.index("const moves") :], re.MULTILINE))
    asked = {key.argument for key in KEYS["run"] if key.act == "tree"}
    assert asked <= known | {"error", "slowest"}


def test_backspace_is_never_bound_and_nothing_destructive_has_a_key() -> None:
    everything = [key for keys in KEYS.values() for key in keys]
    assert all("Backspace" not in key.keys and "Delete" not in key.keys for key in everything)
    assert not {key.act for key in everything} & {"drop", "delete", "resend"}


def test_go_keys_lead_to_pages_that_exist() -> None:
    paths = {key.argument for key in KEYS["everywhere"] if key.act == "go"}
    assert paths == {entry.path for entry in ENTRIES}
    assert len(ENTRIES) <= 7


def test_badges_print_what_is_pressed() -> None:
    assert badge("everywhere", "jump") == ("Ctrl", "k")
    assert badge("everywhere", "go", "/runs") == ("g", "r")
    assert badge("run", "tree", "down") == ("↓",)
    with pytest.raises(LookupError, match="no key does fly"):
        badge("run", "fly")


def test_chords_and_escape_stay_when_single_keys_are_off() -> None:
    single = {key.keys for keys in KEYS.values() for key in keys if key.single}
    assert {"Control+k", "Escape"}.isdisjoint(single)
    assert {"?", "/", "j", "g o"} <= single
