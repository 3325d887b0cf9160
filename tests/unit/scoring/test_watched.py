import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from gnomon.clock import Nanos
from gnomon.errors import ConfigError, StoreUnavailable, Unavailable
from gnomon.model import Bodies, Step
from gnomon.watch import parse, read
from scoring.grading import plugins
from scoring.grading.port import (
    Answer,
    CheckFailed,
    Evidence,
    Grader,
    Label,
    State,
    Surface,
    TryAgain,
)
from scoring.grading.run import judge
from scoring.grading.spec import Means
from scoring.watched import watched
from tests.judging import Seen

BUDGET = "{type: budget, name: b, limits: {steps: 3}}"


@pytest.mark.parametrize(
    ("text", "line", "mend"),
    [
        ("graders:\n  - {type: bugdet, name: b}", 2, "type must be one of outcome_check"),
        ("graders:\n  - {name: b}", 2, "type must be one of"),
        (f"graders:\n  - {BUDGET}\n  - {BUDGET}", 3, "b is the name of graders.0 as well"),
        (
            "graders:\n  - type: budget\n    name: b\n    limits: {step: 3}",
            4,
            "there is no such field here; there are: steps",
        ),
        ("graders:\n  - type: budget\n    name: b\n    limits: {}", 4, "say one limit at least"),
        ("graders:\n  - type: schema\n    name: s\n    schema: {type: 7}", 4, "no JSON Schema"),
        ("graders:\n  - type: citations\n    name: c\n    pattern: '['", 4, "regular expression"),
        ("graders: 7", 1, "a list is expected"),
        ("policies:\n  - file: nowhere.yaml", 2, "there is no file"),
        ("policies:\n  - prohibited: [{tool: x}]", 2, "give it a name"),
        ("policies:\n  - policy: p\n    prohibited: [{tool: x, per: y}]", 3, "max_committed"),
        ("policies:\n  - policy: p\n    arguments: {x: {type: 7}}", 3, "no JSON Schema"),
        (
            "graders:\n  - type: outcome_check\n    name: o\n    expect: {equals: 1}",
            2,
            "say exactly one of http, sql, command",
        ),
        (
            "graders:\n  - type: outcome_check\n    name: o\n    sql: {query: DROP TABLE x}\n"
            "    expect: {equals: 1}",
            4,
            "write one SELECT",
        ),
        (
            "graders:\n  - type: outcome_check\n    name: o\n"
            "    http: {url: 'http://{order}/x'}\n    expect: {equals: 1}",
            4,
            "the host must be fixed",
        ),
        ("graders:\n  - {type: plugin, entry: nowhere}", 2, "no entry point nowhere"),
    ],
)
def test_what_is_wrong_is_named_with_line_and_mend(text: str, line: int, mend: str) -> None:
    with pytest.raises(ConfigError) as caught:
        watched(parse(text))
    assert caught.value.detail.startswith(f"gnomon.yaml:{line}: "), caught.value.detail
    assert mend in caught.value.detail


def test_a_policy_file_is_found_beside_gnomon_yaml(tmp_path: Path) -> None:
    (tmp_path / "trajectory.yaml").write_text("prohibited: [{tool: x}]", encoding="utf-8")
    config = tmp_path / "gnomon.yaml"
    config.write_text("policies: [{file: trajectory.yaml, surface: trajectory}]", encoding="utf-8")
    (policy,) = watched(read(config)).policies
    assert (policy.name, policy.surface) == ("trajectory", Surface.TRAJECTORY)


def test_a_version_nobody_gave_changes_with_the_meaning_and_only_with_it() -> None:
    def version(text: str) -> str:
        (grader,) = watched(parse(text)).built(Means())
        return grader.version

    one = version("policies: [{policy: p, prohibited: [{tool: x}]}]")
    assert one == version("policies:\n- policy: p  # a remark\n  prohibited: [{tool: x}]")
    assert one != version("policies: [{policy: p, prohibited: [{tool: y}]}]")
    assert version("policies: [{policy: p, version: '7', prohibited: [{tool: y}]}]") == "7"
    three = version(f"graders: [{BUDGET}]")
    assert three.startswith("auto-")
    assert three != version("graders: [{type: budget, name: b, limits: {steps: 4}}]")


class Own:
    """A grader as somebody else would write it."""

    name = "own"
    version = "2"
    surface = "conversation"
    kind = "code"

    def __init__(self, *, polite: bool = True) -> None:
        self.polite = polite

    def grade(self, evidence: Evidence) -> Answer:
        return Label(passed=self.polite)


def test_peoples_own_graders_come_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    here = EntryPoint(name="own", value="own:Own", group="gnomon.graders")
    monkeypatch.setattr(EntryPoint, "load", lambda _self: Own)
    monkeypatch.setattr(plugins, "entry_points", lambda **_: EntryPoints([here]))
    text = "graders: [{type: plugin, entry: own, options: {polite: false}}]"
    (grader,) = watched(parse(text)).built(Means())
    assert (grader.name, grader.version, grader.surface) == ("own", "2", Surface.CONVERSATION)
    assert grader.grade(Seen()) == Label(passed=False)
    with pytest.raises(ConfigError, match="own can not be made: TypeError"):
        watched(parse("graders: [{type: plugin, entry: own, options: {rude: 1}}]"))


def of_own(grade: Callable[[Evidence], Answer], **more: object) -> Grader:
    own = Own()
    own.grade = grade  # type: ignore[method-assign]
    return plugins.checked(own, plugins.Plugin(type="plugin", entry="own", **more))  # type: ignore[arg-type]


def judged(grader: Grader, evidence: Evidence) -> tuple[State, str]:
    status = judge(grader, evidence, at=Nanos(1)).status
    return status.state, status.why


def test_a_plug_in_that_hangs_fails_and_is_left_alone_after_a_while() -> None:
    ended = threading.Event()

    def hang(_: Evidence) -> Answer:
        ended.wait(60)
        return Label(passed=True)

    grader = of_own(hang, timeout="20ms")
    assert judged(grader, Seen()) == (State.FAILED, "took longer than 0.02 s (try 1 of 5)")
    for _ in range(20):
        state, why = judged(grader, Seen())
    assert (state, "not asked any more" in why) == (State.FAILED, True)
    ended.set()


@pytest.mark.parametrize("timeout", ["0s", "11m"])
def test_the_time_of_a_plug_in_is_bounded(timeout: str) -> None:
    with pytest.raises(ValueError, match="at most 10m"):
        of_own(lambda _: Label(), timeout=timeout)


def test_what_is_away_for_a_plug_in_is_not_the_store_being_away() -> None:
    def asks(_: Evidence) -> Answer:
        raise Unavailable("the shop did not answer")

    why = "Unavailable: the shop did not answer (try 1 of 5)"
    assert judged(of_own(asks), Seen()) == (State.FAILED, why)


TOKEN = "sk-live-0123456789"
HOLDS_TOKEN = {"options": {"auth": {"token": TOKEN}}}


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError(TOKEN)


@pytest.mark.parametrize(
    ("raised", "why"),
    [
        (ValueError(f"Bearer {TOKEN} refused"), "ValueError: Bearer [hidden] refused"),
        (CheckFailed(f"401 for {TOKEN}"), "401 for [hidden]"),
        (TryAgain(f"503 for {TOKEN}"), "503 for [hidden] (try 1 of 5)"),
        (Unavailable(f"{TOKEN} is away"), "Unavailable: [hidden] is away (try 1 of 5)"),
        (SystemExit(TOKEN), "SystemExit: [hidden]"),
        (KeyboardInterrupt(), "KeyboardInterrupt: "),
        (GeneratorExit(TOKEN), "GeneratorExit: [hidden]"),
        (Mute(), "Mute"),
    ],
)
def test_no_reason_tells_what_a_plug_in_was_given(raised: BaseException, why: str) -> None:
    def raises(_: Evidence) -> Answer:
        raise raised

    assert judged(of_own(raises, **HOLDS_TOKEN), Seen()) == (State.FAILED, why)


def test_a_plug_in_that_cannot_be_made_tells_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(**options: object) -> Grader:
        raise ValueError(f"no access with {options}")

    here = EntryPoint(name="own", value="own:Own", group="gnomon.graders")
    monkeypatch.setattr(EntryPoint, "load", lambda _self: make)
    monkeypatch.setattr(plugins, "entry_points", lambda **_: EntryPoints([here]))
    text = f"graders: [{{type: plugin, entry: own, options: {{auth: [{TOKEN}]}}}}]"
    with pytest.raises(ConfigError, match="no access with") as caught:
        watched(parse(text))
    assert TOKEN not in caught.value.detail


@pytest.mark.parametrize("swallows", [False, True])
def test_evidence_that_could_not_be_read_is_no_answer_whatever_the_plug_in_makes_of_it(
    swallows: bool,
) -> None:
    class Away(Seen):
        def bodies(self, steps: Sequence[Step]) -> Sequence[Bodies]:
            raise StoreUnavailable

    def reads(evidence: Evidence) -> Answer:
        with suppress(Exception) if swallows else nullcontext():
            evidence.bodies([])
        return Label(passed=False)

    with pytest.raises(StoreUnavailable):
        judge(of_own(reads), Away(), at=Nanos(1))
