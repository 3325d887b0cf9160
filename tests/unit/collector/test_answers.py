"""What senders read when a request is not taken."""

import pytest

from collector.receiving.answers import later
from gnomon.errors import DiskFull


@pytest.mark.parametrize("detail", ["no space left", "no space left."])
def test_an_answer_that_asks_for_patience_is_made_of_sentences(detail: str) -> None:
    assert later(DiskFull(detail)).message == "no space left. Try again."
