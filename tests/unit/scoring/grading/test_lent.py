"""What a plug-in does to the evidence that it was lent stays with that plug-in."""

import copy
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.model import Bodies, Document, Step
from scoring.grading.evidence import StoredEvidence
from scoring.grading.lent import Lent, json_of_its_own
from scoring.grading.limit import Bounded
from scoring.grading.plugins import Own
from scoring.grading.port import Answer, Evidence, GraderKind, Label, Surface
from tests.judging import make_run, make_step

FINAL = '{"orders": [{"id": "A", "notes": ["late"]}]}'


class Stored:
    """Tells the bodies of the steps that it knows, as the store does."""

    def bodies_of(self, steps: Sequence[Step]) -> list[Bodies]:
        return [
            Bodies(output=f"at {step.started_at}", documents=[Document(id="d1")]) for step in steps
        ]


def evidence() -> StoredEvidence:
    run = make_run(
        output=FINAL, business_keys={"order": "A"}, manifest={"model": "m1"}, flags=["late"],
        models=["m1"],
    )  # fmt: skip
    step = make_step(1, "refund", business_keys={"order": "A"}, tags=["t"], flags=["late"])
    return StoredEvidence(run, [step], Stored())


def seen(given: Evidence) -> dict[str, Any]:
    """Return everything that evidence hands out."""
    return {
        "run": given.run,
        "steps": list(given.steps),
        "message": given.final_message,
        "json": given.final_json,
        "bodies": list(given.bodies(given.steps)),
    }


def spoilt(value: Any) -> None:
    """Change whatever can be changed, as far down as it goes."""
    if isinstance(value, dict | list):
        for inner in list(value.values()) if isinstance(value, Mapping) else list(value):
            spoilt(inner)
        value.clear()
    for name in getattr(value, "__dataclass_fields__", ()):
        spoilt(getattr(value, name))


def of_own(look: Any) -> Own:
    return Own(
        name="own", version="1", surface=Surface.OUTCOME, kind=GraderKind.CODE, look=look,
        bounded=Bounded(limit=dt.timedelta(seconds=30), name="own"),
    )  # fmt: skip


def test_what_one_plug_in_changes_no_other_grader_sees() -> None:
    shared = evidence()
    before = copy.deepcopy(seen(shared))
    found = []

    def vandal(given: Evidence) -> Answer:
        whole = seen(given)
        spoilt(whole["bodies"])
        spoilt(whole)
        spoilt(given.steps)
        return Label(passed=True)

    def reader(given: Evidence) -> Answer:
        found.append(seen(given))
        return Label(passed=True)

    for look in (vandal, reader):
        assert of_own(look).grade(shared) == Label(passed=True)
    assert found == [before]
    assert seen(shared) == before


def test_a_plug_in_finds_its_own_marks_again() -> None:
    lent = Lent(evidence())
    lent.run.business_keys["order"] = "B"  # type: ignore[index]
    assert lent.run.business_keys == {"order": "B"}
    assert lent.final_json is lent.final_json


def test_bodies_asked_by_a_changed_step_are_read_by_the_stored_one() -> None:
    shared = evidence()
    (step,) = shared.steps
    forged = make_step(1, "refund", started_at=0)
    Lent(shared).bodies([forged])
    (bodies,) = shared.bodies([step])
    assert bodies.output == f"at {step.started_at}"


def test_json_is_copied_however_deep_it_is() -> None:
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    own = json_of_its_own(deep)
    assert own is not deep
    assert own[0][0][0] is not deep[0][0][0]
