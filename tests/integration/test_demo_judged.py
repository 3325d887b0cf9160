"""The refund desk judged: what the graders say equals what really happened."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from collector.folding.fold import Folded, fold_traces
from collector.spans import Span
from collector.watched import watched as collector_watched
from gnomon.cli.demo import Audit, Truth, demo_config, demo_policy
from gnomon.cli.demo.desk import Desk
from gnomon.cli.demo.releases import Mistake
from gnomon.clock import Nanos
from gnomon.watch import read
from scoring.grading.evidence import StoredEvidence
from scoring.grading.port import Abstained, Answer, Label, NotApplicable
from scoring.grading.spec import Means
from scoring.watched import watched
from tests import samples
from tests.otlp import START

MINUTE = 60 * 1_000_000_000
MANY = 300


class NoBodies:
    """The desk's last words are short: nothing else is read."""

    def bodies_of(self, steps: object) -> list[object]:
        raise AssertionError("no grader of the demo reads bodies")


@dataclass(frozen=True)
class Day:
    """One day at the desk: what happened, and what every grader says."""

    truths: Mapping[str, Truth]
    said: Mapping[str, Mapping[str, Answer]]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    folder: Path = tmp_path_factory.mktemp("desk")
    audit = Audit()
    audit.start()
    try:
        (folder / "trajectory.yaml").write_text(demo_policy(), encoding="utf-8")
        (folder / "gnomon.yaml").write_text(demo_config(audit.url), encoding="utf-8")
        watch = read(folder / "gnomon.yaml")
        desk = Desk(7)
        truths: dict[str, Truth] = {}
        spans: list[Span] = []
        for index in range(MANY):
            handled = desk.handle(index, Nanos(START + index * 3 * MINUTE), index / MANY)
            truths[handled.truth.run_id] = handled.truth
            audit.note(handled.truth)
            spans += samples.spans_of(encode_spans(handled.spans))
        folded = fold_traces(
            spans,
            [],
            watched=collector_watched(watch),
            previous={},
            received={span.trace_id: span.end for span in spans},
            now=Nanos(START + 2 * MANY * 3 * MINUTE),
        )
        yield Day(truths=truths, said=judged(folded, watched(watch).built(Means())))
    finally:
        audit.stop(5.0)


def judged(folded: Folded, graders: object) -> dict[str, dict[str, Answer]]:
    steps: dict[str, list[object]] = {}
    for step in folded.steps:
        if step.counted:
            steps.setdefault(step.run_id, []).append(step)
    said: dict[str, dict[str, Answer]] = {}
    for run in folded.runs:
        evidence = StoredEvidence(run, steps[run.run_id], NoBodies())  # type: ignore[arg-type]
        said[run.run_id] = {g.name: g.grade(evidence) for g in graders}  # type: ignore[attr-defined]
    return said


def verdict(answer: Answer) -> bool | None:
    return answer.passed if isinstance(answer, Label) else None


def test_the_outcome_is_what_was_really_paid_and_never_what_the_agent_says(day: Day) -> None:
    for run_id, truth in day.truths.items():
        assert verdict(day.said[run_id]["right-refund"]) is truth.state_right


def test_a_false_claim_is_told_from_a_true_one(day: Day) -> None:
    false = 0
    for run_id, truth in day.truths.items():
        answer = day.said[run_id]["claim"]
        if truth.claimed_outcome is None:
            assert isinstance(answer, Abstained | NotApplicable)
            continue
        assert isinstance(answer, Label)
        assert answer.passed is truth.claim_true
        assert answer.claimed is (truth.claimed_outcome == "refunded")
        false += answer.passed is False
    assert false > 0


def test_loops_are_what_does_not_converge(day: Day) -> None:
    endless = {Mistake.ENDLESS_LOOP, Mistake.ENDLESS_POLLING}
    met = set()
    for run_id, truth in day.truths.items():
        if truth.mistake in endless:
            met.add(truth.mistake)
            assert verdict(day.said[run_id]["convergence"]) is False, truth
    assert met == endless
    straight = [r for r, truth in day.truths.items() if truth.mistake is None]
    assert all(verdict(day.said[run_id]["convergence"]) is not False for run_id in straight)


def test_what_may_have_been_paid_twice_is_no_recovery(day: Day) -> None:
    twice = [r for r, truth in day.truths.items() if truth.mistake is Mistake.UNSAFE_RETRY]
    assert twice
    for run_id in twice:
        answer = day.said[run_id]["recovery"]
        assert isinstance(answer, Abstained), (
            "the trace does not tell whether the first one was made"
        )
        assert verdict(day.said[run_id]["right-refund"]) is False, "the bank does"
    calm = [r for r, t in day.truths.items() if not t.faults and t.counts.tool_errors == 0]
    assert all(isinstance(day.said[r]["recovery"], NotApplicable) for r in calm)


def test_the_last_word_has_its_shape(day: Day) -> None:
    for run_id, truth in day.truths.items():
        if truth.claimed_outcome is not None:
            assert verdict(day.said[run_id]["last-word"]) is True
