"""Where SQL varies: column lists from row types, conditions with their parameters, words filled in."""

from dataclasses import dataclass, field, fields

from gnomon.clock import moments
from gnomon.store.client import Value

NANOS = "fromUnixTimestamp64Nano({{{name}:Int64}}, 'UTC')"
"""A moment given as nanoseconds; `format(name=…)` names its parameter."""


@dataclass(slots=True)
class Where:
    """Conditions joined by AND, and their typed parameters."""

    conditions: list[str] = field(default_factory=list)
    params: dict[str, Value] = field(default_factory=dict)

    def add(self, condition: str, **params: Value) -> None:
        """Add a condition that names its parameters."""
        self.conditions.append(condition)
        self.params.update(params)

    @property
    def text(self) -> str:
        """The conditions as SQL; none is `true`."""
        return " AND ".join(self.conditions) or "true"


def columns(row_type: type) -> str:
    """Return the select list of a row type: its fields, moments as nanoseconds."""
    times = moments(row_type)
    return ", ".join(
        f"toUnixTimestamp64Nano({f.name}) AS {f.name}" if f.name in times else f.name
        for f in fields(row_type)
    )


def filled(sql: str, **words: str) -> str:
    """Put words such as `{{columns}}` and `{{where}}` into a statement."""
    for name, text in words.items():
        sql = sql.replace("{{" + name + "}}", text)
    return sql
