"""Runs settle after a quiet period, and only new content opens them again."""

from dataclasses import replace

from collector.folding.settling import Previous
from tests.spans import SECOND, TRACE, fold, make_log, make_span

QUIET = {"runs": {"quiet_period": "30s"}}
CALL = make_span(2, 1, attributes={"gen_ai.operation.name": "chat"})
ROOT = make_span(1)
CAME = 1000 * SECOND
DUE = CAME + 30 * SECOND


def folded(*spans, logs=(), now=CAME, before=None, came=CAME):
    result = fold(
        spans,
        logs,
        watched=QUIET,
        received={TRACE: came},
        now=now,
        previous=[] if before is None else [before],
    )
    return result.runs[0], result.again


def stored(run):
    return Previous(
        run_id=run.run_id,
        state=run.state,
        revision=run.revision,
        settled_at=run.settled_at,
        content_digest=run.content_digest,
        trace_ids=run.trace_ids,
        started_at=run.started_at,
    )


def test_a_run_is_open_until_its_quiet_period_is_over():
    run, again = folded(ROOT, CALL, now=DUE - 1)
    assert (run.state, run.settled_at, run.revision) == ("open", None, 0)
    assert again == {TRACE: DUE}
    run, again = folded(ROOT, CALL, now=DUE)
    assert (run.state, run.settled_at, run.revision) == ("settled", DUE, 0)
    assert again == {}


def test_settling_does_not_depend_on_when_somebody_looked():
    assert folded(ROOT, now=DUE) == folded(ROOT, now=DUE + 99 * SECOND)


def test_a_run_without_a_root_waits_ten_times_as_long_and_stays_incomplete():
    run, again = folded(CALL, now=DUE)
    assert (run.state, again) == ("open", {TRACE: CAME + 300 * SECOND})
    run, again = folded(CALL, now=CAME + 300 * SECOND)
    assert (run.state, run.complete, again) == ("settled", False, {})
    assert "no_root" in run.flags


def test_a_pending_span_keeps_a_run_open_ten_times_as_long():
    attributes = {"logfire.span_type": "pending_span", "logfire.pending_parent_id": "0" * 16}
    pending = make_span(3, 7, attributes=attributes, seconds=0)
    run, _ = folded(pending, now=DUE)
    assert run.state == "open"
    run, _ = folded(pending, now=CAME + 300 * SECOND)
    assert (run.state, run.complete) == ("settled", False)


def test_a_repeat_does_not_open_a_settled_run():
    before = stored(folded(ROOT, CALL, now=DUE)[0])
    run, again = folded(CALL, ROOT, ROOT, before=before, came=DUE + 5, now=DUE + 5)
    assert (run.state, run.settled_at, run.revision, again) == ("settled", DUE, 0, {})


def test_a_late_span_opens_a_settled_run_and_raises_its_revision_once():
    before = stored(folded(ROOT, now=DUE)[0])
    late = DUE + 3600 * SECOND
    run, again = folded(ROOT, CALL, before=before, came=late, now=late)
    assert (run.state, run.settled_at, run.revision) == ("open", None, 1)
    assert again == {TRACE: late + 30 * SECOND}
    run, _ = folded(ROOT, CALL, before=stored(run), came=late, now=late + 30 * SECOND)
    assert (run.state, run.settled_at, run.revision) == ("settled", late + 30 * SECOND, 1)


def test_a_late_log_is_new_content():
    before = stored(folded(ROOT, now=DUE)[0])
    run, _ = folded(ROOT, logs=[make_log("x", ROOT)], before=before, came=DUE, now=DUE)
    assert (run.state, run.revision) == ("open", 1)


def test_an_open_run_keeps_its_revision_when_more_arrives():
    before = replace(stored(folded(ROOT)[0]), revision=3)
    run, _ = folded(ROOT, CALL, before=before)
    assert (run.state, run.revision) == ("open", 3)


def test_an_older_version_of_a_span_changes_nothing():
    newer = replace(CALL, end=CALL.end + 5, attributes={**CALL.attributes, "extra": "1"})
    assert folded(ROOT, CALL, newer)[0] == folded(ROOT, newer)[0]
    assert folded(ROOT, newer, CALL)[0] == folded(ROOT, newer)[0]


def test_of_two_versions_the_later_end_wins_then_more_attributes():
    longer = replace(CALL, end=CALL.end + 5, attributes={})
    richer = replace(CALL, attributes={**CALL.attributes, "extra": "1"})
    assert folded(ROOT, CALL, longer, richer)[0] == folded(ROOT, longer)[0]
    assert folded(ROOT, richer, CALL)[0] == folded(ROOT, richer)[0]
