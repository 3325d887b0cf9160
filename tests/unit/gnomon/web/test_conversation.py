"""What a model call read: only the new messages are open, nothing is lost, nothing is inline."""

import json

from hypothesis import given
from hypothesis import strategies as st

from gnomon.model import Bodies
from gnomon.web.blocks import MOST, block
from gnomon.web.conversation import conversation

USER = {"role": "user", "parts": [{"type": "text", "text": "refund 40"}]}
CALL = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"order": 817}}],
}
RESULT = {"role": "tool", "parts": [{"type": "tool_result", "id": "c1", "result": {"ok": True}}]}
DONE = {
    "role": "assistant",
    "finish_reason": "stop",
    "parts": [{"type": "text", "text": "done"}],
}


def bodies(read: object, wrote: object = None) -> Bodies:
    return Bodies(
        input=None if read is None else json.dumps(read),
        output=None if wrote is None else json.dumps(wrote),
    )


def test_the_first_call_shows_everything_it_read() -> None:
    shown = conversation(bodies([USER], [CALL]))
    assert (len(shown.earlier), len(shown.fresh), len(shown.answer)) == (0, 1, 1)
    assert shown.answer[0].parts[0].name == "look"
    assert json.loads(shown.answer[0].parts[0].block.text) == {"order": 817}


def test_a_later_call_folds_what_the_last_one_read_and_answered() -> None:
    shown = conversation(bodies([USER, CALL, RESULT], [DONE]), bodies([USER], [CALL]))
    assert [one.role for one in shown.earlier] == ["user", "assistant"]
    assert [one.role for one in shown.fresh] == ["tool"]
    assert shown.answer[0].finish_reason == "stop"


def test_a_rewritten_history_is_shown_from_where_it_differs() -> None:
    other = {"role": "user", "parts": [{"type": "text", "text": "refund 41"}]}
    shown = conversation(bodies([other, CALL, RESULT]), bodies([USER], [CALL]))
    assert len(shown.fresh) == 3


def test_what_was_not_captured_is_said_and_never_shown_as_empty() -> None:
    assert not conversation(Bodies()).captured
    assert conversation(bodies([])).captured


def test_text_that_is_no_list_of_messages_is_shown_as_it_is() -> None:
    shown = conversation(Bodies(input="plain words", output='{"a": 1}'))
    assert shown.fresh[0].parts[0].block.text == "plain words"
    assert json.loads(shown.answer[0].parts[0].block.text) == {"a": 1}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_body_is_too_odd_to_be_shown(value: object) -> None:
    for read in (value, [value], [{"role": value, "parts": value}], [{"parts": [value]}]):
        shown = conversation(bodies(read, read), bodies(read))
        assert shown.captured == (read is not None)


def test_media_is_a_line_of_words() -> None:
    part = {
        "type": "media",
        "modality": "image",
        "mime_type": "image/png",
        "uri": "data:image/png;base64,AAAA",
        "bytes_sha256": "ab12",
    }
    shown = conversation(bodies([{"role": "user", "parts": [part]}]))
    assert shown.fresh[0].parts[0].block.text == "image · image/png · sha256 ab12"


def test_base64_is_type_and_size_never_text() -> None:
    shown = block(json.dumps({"image": "QUJD" * 4000}), fold=False)
    assert "QUJDQUJD" not in shown.text
    assert "[base64, 12 kB]" in shown.text


def test_a_long_body_is_cut_and_says_how_much_unless_all_is_asked_for() -> None:
    words = "word " * 50_000
    shown = block(words)
    assert len(shown.text) == MOST
    assert shown.left_out == len(words) - MOST
    assert block(words, full=True).text == words


def test_long_json_is_folded_with_its_size() -> None:
    shown = block(json.dumps({"rows": list(range(500))}))
    assert shown.folded == "JSON, 504 lines, 2.4 kB"
    assert block('{"a": 1}').folded == ""
