"""What a run is called, and where its page is."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from collector.views import RunPosition
from gnomon.model import Run, RunStatus
from gnomon.segment import segment
from gnomon.web.filters import Query
from gnomon.web.formats import first_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """What tells a run from its neighbours."""

    key: str
    """A business key, else the beginning of the run id."""
    failure: str = ""
    """What the run ended in."""
    inside: str = ""
    """What went wrong inside a run that did not end in it."""
    said: str = ""
    """First words of the request."""


def keys_of(run: Run, order: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return the business keys of a run, those of the configuration first and in its order."""
    known = {name: place for place, name in enumerate(order)}
    return sorted(run.business_keys.items(), key=lambda key: (known.get(key[0], len(known)), key))


def title_of(run: Run, order: Sequence[str] = ()) -> Title:
    """Return what differs: business key, failure, first words of the request."""
    keys = keys_of(run, order)
    key = f"{keys[0][0]} {keys[0][1]}" if keys else f"run {run.run_id[:8]}"
    failed = run.status is RunStatus.ERROR
    return Title(
        key=key,
        failure=(run.error_type or "error") if failed else "",
        inside="" if failed else _inside(run),
        said=first_words(run.input or ""),
    )


def _inside(run: Run) -> str:
    if not run.error_types:
        return ""
    more = len(run.error_types) - 2
    names = ", ".join(run.error_types[:2]) + (f" and {more} more" if more > 0 else "")
    return f"recovered from {names}" if run.status is RunStatus.OK else f"{names} inside"


def position_of(run: Run) -> RunPosition:
    """Return where a run stands in lists."""
    return RunPosition(run.started_at, run.run_id)


def address_of(run_id: str, query: Query) -> str:
    """Return the address of a run that remembers the list it was reached from."""
    came = query.text_of_url()
    return f"/runs/{segment(run_id)}" + (f"?{urlencode({'list': came})}" if came else "")
