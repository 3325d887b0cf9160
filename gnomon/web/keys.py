"""The only map of keys. Handlers, badges and the `?` sheet are made from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Context = Literal["everywhere", "list", "run", "compare", "chart"]

TITLES: dict[Context, str] = {
    "everywhere": "Everywhere",
    "list": "Lists",
    "run": "Run",
    "compare": "Compare",
    "chart": "Charts",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One key, what it says on the sheet, and the name of its handler in app.js."""

    keys: str
    """As `KeyboardEvent.key`; `g o` is a sequence, `Control+k` a chord."""
    label: str
    act: str
    argument: str = ""

    @property
    def badges(self) -> tuple[str, ...]:
        """What is printed on the keys."""
        parts = self.keys.split("+") if len(self.keys) > 1 and "+" in self.keys else [self.keys]
        return tuple(_PRINTED.get(word, word) for part in parts for word in part.split(" "))

    @property
    def single(self) -> bool:
        """Whether the switch "single keys off" silences it."""
        return "+" not in self.keys and self.keys != "Escape"


_PRINTED = {
    "ArrowUp": "↑",
    "ArrowDown": "↓",
    "ArrowLeft": "←",
    "ArrowRight": "→",
    "Control": "Ctrl",
    "Escape": "Esc",
}

KEYS: dict[Context, Sequence[Key]] = {
    "everywhere": (
        Key("?", "Show the keys", "sheet"),
        Key("/", "Search", "search"),
        Key("Control+k", "Jump to any id", "jump"),
        Key("g o", "Go to Overview", "go", "/"),
        Key("g r", "Go to Runs", "go", "/runs"),
        Key("g m", "Open More, or go to Status", "more"),
        Key("z", "Switch times between UTC and your zone", "zone"),
        Key("Escape", "Leave a field or a dialog", "leave"),
    ),
    "list": (
        Key("j", "Next row", "row", "1"),
        Key("k", "Previous row", "row", "-1"),
        Key("Enter", "Open the row", "open"),
        Key("n", "Next page", "follow", "next"),
        Key("p", "Previous page", "follow", "prev"),
    ),
    "run": (
        Key("ArrowDown", "Next step", "tree", "down"),
        Key("ArrowUp", "Previous step", "tree", "up"),
        Key("ArrowRight", "Open, or first step inside", "tree", "right"),
        Key("ArrowLeft", "Close, or step outside", "tree", "left"),
        Key("Home", "First step", "tree", "home"),
        Key("End", "Last step", "tree", "end"),
        Key("e", "Next error", "tree", "error"),
        Key("b", "Slowest step", "tree", "slowest"),
        Key("m", "Messages and back to the tree", "messages"),
        Key("r", "Raw span and back", "follow", "raw"),
        Key("[", "Previous run of the list", "follow", "run-prev"),
        Key("]", "Next run of the list", "follow", "run-next"),
    ),
    "compare": (
        Key("j", "Next task", "row", "1"),
        Key("k", "Previous task", "row", "-1"),
        Key("v", "Seen, and next task", "seen"),
    ),
    "chart": (
        Key("ArrowRight", "Read the next value aloud", "point", "1"),
        Key("ArrowLeft", "Read the previous value aloud", "point", "-1"),
    ),
}


def badge(context: Context, act: str, argument: str = "") -> tuple[str, ...]:
    """Return what is printed on the keys of a handler; raises LookupError when it has none."""
    for key in KEYS[context]:
        if key.act == act and key.argument == argument:
            return key.badges
    raise LookupError(f"no key does {act} {argument} in {context}")
