"""What the roll-up reads of the store is less than the spans, and folds to the same."""

from collections.abc import Iterator
from dataclasses import replace

import orjson
import pytest

from collector.dialects.content.instructions import ONLY_IN_BODIES
from collector.dialects.table import INDEX
from collector.folding.fold import fold_traces
from collector.reading.rows import unread_span
from collector.spans import Span
from collector.store import Reader
from collector.watched import Watched
from gnomon.clock import Nanos
from gnomon.store import Store
from tests import samples
from tests.stores import ENGINES, migrated_store, put

pytestmark = pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)


@pytest.fixture(scope="module", params=ENGINES)
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    with migrated_store(request.param, tmp_path_factory.mktemp("data")) as store:
        for name in samples.names():
            put(store, "traces", samples.trace_request(name).SerializeToString())
        yield store


def read(store: Store, traces: set[str]) -> list[Span]:
    lines = Reader(store).span_lines(sorted(traces)).splitlines()
    return [unread_span(orjson.loads(line)) for line in lines]


def test_every_recorded_span_folds_to_what_the_whole_span_folds_to(store: Store) -> None:
    whole = [span for name in samples.names() for span in samples.spans(name)]
    traces = {span.trace_id for span in whole}
    found = [
        fold_traces(
            spans, (), watched=Watched(), previous={},
            received=dict.fromkeys(traces, Nanos(1)), now=Nanos(2),
        )
        for spans in (Reader(store).spans(traces), read(store, traces))
    ]  # fmt: skip
    whole_fold, cut_fold = found
    assert len(cut_fold.steps) == len({(span.trace_id, span.span_id) for span in whole})
    assert cut_fold.steps == whole_fold.steps
    assert [replace(run, content_digest="") for run in cut_fold.runs] == [
        replace(run, content_digest="") for run in whole_fold.runs
    ]


def test_what_only_bodies_are_read_from_is_cut_and_nothing_else_is(store: Store) -> None:
    whole = [span for name in samples.names() for span in samples.spans(name)]
    traces = {span.trace_id for span in whole}
    cut = {(span.trace_id, span.span_id): span for span in read(store, traces)}
    shortened = 0
    for span in Reader(store).spans(traces):
        other = cut[span.trace_id, span.span_id]
        assert other.attributes.keys() == span.attributes.keys()
        for key, value in span.attributes.items():
            if key in ONLY_IN_BODIES:
                assert other.attributes[key] == value[:64]
                shortened += len(value) > 64
            else:
                assert other.attributes[key] == value
    assert shortened > 50


def test_no_field_is_read_from_what_is_cut() -> None:
    assert INDEX.keys.isdisjoint(ONLY_IN_BODIES)


def test_a_span_has_one_version_until_its_content_changes(store: Store) -> None:
    name = samples.names()[0]
    traces = {span.trace_id for span in samples.spans(name)}
    before = {span.span_id: span.version for span in read(store, traces)}
    assert len(set(before.values())) == len(before)
    put(store, "traces", samples.trace_request(name).SerializeToString())
    assert {span.span_id: span.version for span in read(store, traces)} == before
    changed = samples.trace_request(name)
    late = changed.resource_spans[0].scope_spans[0].spans[0]
    late.end_time_unix_nano += 1
    put(store, "traces", changed.SerializeToString())
    after = {span.span_id: span.version for span in read(store, traces)}
    assert [span for span in after if after[span] != before[span]] == [late.span_id.hex()]
