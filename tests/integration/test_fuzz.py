"""A short run of the fuzzer; `make soak` runs 100,000 requests."""

import asyncio

from tests.bench.fuzz_receiver import fuzz


def test_every_answer_to_2000_spoilt_requests_is_one_of_the_table_and_memory_is_bounded() -> None:
    result = asyncio.run(fuzz(2_000, seed=20))
    assert result.wrong == []
    assert sum(result.answers.values()) == 2_000
    assert result.peak_mb - result.start_mb < 150
