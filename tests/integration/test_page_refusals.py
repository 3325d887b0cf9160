"""What an address may not ask for: every page and figure refuses it, and says what may be asked."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice

import pytest
from fastapi.routing import APIRoute

from gnomon.http import _parameters as declared
from gnomon.web.filters import NAMES
from tests import desk, judged_desk
from tests import site as pages
from tests.judged_desk import BROKEN
from tests.site import Site, said

LISTED = (*NAMES, "period", "since", "until", "q")
OWN_READING: Mapping[str, Sequence[str]] = {
    "/runs": (*LISTED, "after", "before"),
    "/runs.csv": LISTED,
    "/news/runs": (*LISTED, "than"),
    "/runs/{run_id:id}": ("step", "view", "list", "open", "full"),
}
FREE = {
    *("agent", "version", "error", "model", "tool", "environment", "conversation", "grader"),
    *("rule", "q", "base", "cand", "task", "old", "new", "run_id", "step", "common"),
}
"""Names that agents and people chose: one that nobody has is found nowhere."""
BAD: Mapping[str, Sequence[str]] = {
    "period": ("99999999d", "30 d", "-1h"),
    "since": ("yesterday", "2026-13-01", "99999-01-01"),
    "until": ("yesterday", "0"),
    "hours": ("0", "-1", "745", "9" * 40, "1.5"),
    "after": ("-1", "9" * 40, "9" * 19 + ".a"),
    "before": ("-1", "9" * 40, "9" * 20 + ".a"),
    "than": ("-1", "9" * 40),
    "open": ("~0", "beef~1", "~99", "~-1", "~x"),
    "full": ("0", "yes"),
    "list": ("period=zz", "colour=red"),
}
EVERYWHERE = ("zz", "<b>bold</b>", "z" * 300)
NEEDED = {"task": "x", "base": "1", "cand": "2", "than": "0.a", "run_id": "x"}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with judged_desk.judged_desk(tmp_path_factory.mktemp("refused")) as world:
        made = pages.site(world.reader, desk.books(), world.judging)  # type: ignore[arg-type]
        with made.client:
            yield made


def routes(made: Site) -> Iterator[tuple[str, Sequence[str], Mapping[str, str]]]:
    """Yield every page: its address, its parameters, and what else it needs."""
    run = made.client.get("/runs.csv?period=all").text.splitlines()[1].partition(",")[0]
    places = {"agent": "refund-desk", "policy": "refunds", "rule": BROKEN, "letter": "4"}
    for route in made.client.app.routes:  # type: ignore[attr-defined]
        if not isinstance(route, APIRoute) or "GET" not in route.methods:
            continue
        path = route.path.replace("{run_id:id}", run).replace("{rule:path}", BROKEN)
        path = path.replace("{agent:path}", "refund-desk").replace("{name}.csv", "duration.csv")
        for name, value in places.items():
            path = path.replace(f"{{{name}}}", value)
        if "{" in path:
            assert path == "/static/{name}"
            continue
        names = OWN_READING.get(route.path) or list(declared(route))
        yield path, names, {name: NEEDED[name] for name in names if name in NEEDED}


def test_every_page_and_figure_refuses_what_it_can_not_be_asked_and_says_what_it_can(
    full: Site,
) -> None:
    walked = set()
    for path, names, needed in routes(full):
        for name in [name for name in names if name not in FREE]:
            for value in (*EVERYWHERE, *BAD.get(name, ())):
                answer = full.client.get(path, params={**needed, name: value})
                here = f"{path}?{name}={value}"
                assert answer.status_code == 400, f"{here}: {answer.status_code}"
                words = said(answer.text)
                assert f"{name}: " in words, f"{here} does not name the field"
                assert repr(value)[1:5] in words, f"{here} does not say what was given"
                assert "<b>bold" not in answer.text, here
                assert "z" * 100 not in words, f"{here} repeats all that was given"
                walked.add(name)
    assert walked >= set(BAD) | {"status", "state", "origin", "part", "verdict", "view", "done"}
    assert walked >= {"metric", "show"}


ODD_NAMES = ("\x00", "9" * 40, "%", "'; DROP TABLE runs", "\u202e", "a" * 900)


@pytest.mark.parametrize("each", [1, pytest.param(len(ODD_NAMES), marks=pytest.mark.soak)])
def test_no_name_that_is_asked_for_makes_a_page_fail(full: Site, each: int) -> None:
    values = cycle(ODD_NAMES)
    for path, names, needed in routes(full):
        for name in [name for name in names if name in FREE]:
            for value in islice(values, each):
                answer = full.client.get(path, params={**needed, name: value})
                assert answer.status_code in (200, 303, 400, 404), f"{path}?{name}={value!r}"


def test_an_unknown_parameter_is_refused_everywhere(full: Site) -> None:
    for path, _, needed in routes(full):
        if path != "/favicon.ico":
            answer = full.client.get(path, params={**needed, "colour": "red"})
            assert answer.status_code == 400, path
            assert "colour" in answer.text


@pytest.mark.parametrize("letter", ["-1", "9" * 40, "x"])
def test_a_dead_letter_is_named_by_a_number(full: Site, letter: str) -> None:
    assert full.client.get(f"/status/dead-letters/{letter}").status_code == 400
