"""From a link of the metrics to the page that lists exactly its runs."""

from collections.abc import Mapping
from urllib.parse import urlencode

from scoring.metrics.scope import Link

_SAME = (
    "agent",
    "version",
    "environment",
    "since",
    "until",
    "part",
    "grader",
    "verdict",
    "rule",
    "common",
    "state",
)


def address_of(link: Link, keys: Mapping[str, str] | None = None) -> str:
    """Return the address of the runs behind a number; '' where the list can not ask for them.

    keys: the business key of each slice.
    """
    if any(link.query.get(name) == "" for name in ("version", "environment", "common")):
        return ""
    pairs = [(name, str(link.query[name])) for name in _SAME if link.query.get(name)]
    for text in link.query.get("key", ()):
        name, _, value = text.partition(":")
        pairs.append((f"key.{name}", value))
    for text in link.query.get("slice", ()):
        name, _, value = text.partition(":")
        pairs.append((f"key.{(keys or {}).get(name, name)}", value))
    if link.query.get("origin") not in (None, "production"):
        pairs.append(("origin", str(link.query["origin"])))
    if "since" not in link.query and "until" not in link.query:
        pairs.append(("period", "all"))
    return f"/runs?{urlencode(pairs)}"
