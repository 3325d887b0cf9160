"""Of too many attributes those go first that are worth least; none that a rule reads."""

from dataclasses import replace

import pytest

from collector.dialects import worth
from collector.receiving.mend import MAX_ATTRIBUTES
from collector.spans import Span
from tests import recorded, samples
from tests.spans import fold

TOLD = ("llm.model_name", "llm.token_count.prompt", "output.value", "session.id")


def kept(keys: list[str], most: int) -> list[str]:
    return [keys[place] for place in worth.kept(keys, most)]


def conversation(*numbers: int) -> list[str]:
    said = ("role", "content")
    return [f"llm.input_messages.{n}.message.{one}" for n in numbers for one in said]


def test_what_rules_read_always_fits() -> None:
    assert len(worth.READ) < MAX_ATTRIBUTES


def test_a_long_conversation_loses_its_middle_and_nothing_else() -> None:
    keys = [*conversation(*range(600)), *TOLD]
    found = kept(keys, 1024)
    assert found == [*conversation(*range(255), *range(345, 600)), *TOLD]


def test_messages_are_dropped_whole_and_short_lists_stay() -> None:
    answer = [f"llm.output_messages.{n}.message.content" for n in range(3)]
    keys = [*conversation(*range(1, 8)), *answer]
    assert kept(keys, 16) == kept(keys, 15) == [*conversation(1, 2, 3, 5, 6, 7), *answer]


def test_what_no_vendor_names_goes_before_what_one_does() -> None:
    keys = ["langfuse.trace.metadata.a", "my.key", "other.key", "llm.model_name"]
    assert kept(keys, 3) == ["langfuse.trace.metadata.a", "my.key", "llm.model_name"]
    assert kept(keys, 2) == ["langfuse.trace.metadata.a", "llm.model_name"]
    assert kept(keys, 0) == ["llm.model_name"]


def burdened(span: Span) -> Span:
    """Return a span as it is left when a thousand attributes of its own came with it."""
    more = {f"my.key{n}": "1" for n in range(MAX_ATTRIBUTES)}
    sent = {**more, **span.attributes}
    return replace(span, attributes={key: sent[key] for key in kept([*sent], MAX_ATTRIBUTES)})


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
@pytest.mark.parametrize("name", samples.names()[::5])
def test_a_recorded_sample_means_the_same_behind_a_thousand_other_attributes(name: str) -> None:
    found = fold([burdened(span) for span in samples.spans(name)], samples.logs(name))
    assert not recorded.compare(samples.expected(name), found.steps, found.runs).failures
