"""Unpacking bodies, up to the limit and no further."""

import gzip
import os
import tracemalloc
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from collector.receiving.decompress import unpack
from collector.receiving.refusals import Refused
from gnomon.errors import Unavailable

LIMIT = 1024**2
BODY = os.urandom(100_000) + b"abc" * 100_000


def raw_deflate(body: bytes) -> bytes:
    machine = zlib.compressobj(wbits=-15)
    return machine.compress(body) + machine.flush()


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


PACKED = {
    "gzip": ("gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw": ("deflate", raw_deflate),
    "zstd": ("zstd", zstd),
}
every = pytest.mark.parametrize("kind", PACKED)


def opened(body: bytes, encoding: str, limit: int = LIMIT) -> bytes:
    return unpack(body, encoding, limit=limit, grow=lambda _size: None)


def reason(body: bytes, encoding: str, limit: int = LIMIT) -> str:
    with pytest.raises(Refused) as refused:
        opened(body, encoding, limit)
    return refused.value.reason


@every
def test_what_was_packed_is_unpacked(kind: str) -> None:
    encoding, pack = PACKED[kind]
    assert opened(pack(BODY), encoding) == BODY
    assert opened(pack(b""), encoding) == b""


@every
def test_the_limit_itself_is_taken_and_one_byte_more_is_not(kind: str) -> None:
    encoding, pack = PACKED[kind]
    assert opened(pack(BODY), encoding, len(BODY)) == BODY
    assert reason(pack(BODY), encoding, len(BODY) - 1) == "too_large"


def test_a_body_as_it_is_has_the_same_limit() -> None:
    assert opened(BODY, "identity", len(BODY)) == BODY
    assert reason(BODY, "identity", len(BODY) - 1) == "too_large"


@every
def test_a_body_that_ends_too_early_is_undecodable(kind: str) -> None:
    encoding, pack = PACKED[kind]
    packed = pack(BODY)
    assert {reason(packed[:size], encoding) for size in (0, 1, 9, len(packed) // 2, len(packed) - 1)} == {"undecodable"}  # fmt: skip


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_a_body_that_is_not_packed_is_undecodable(encoding: str) -> None:
    assert reason(b"hello world", encoding) == "undecodable"


@pytest.mark.parametrize(("pack", "encoding"), [(gzip.compress, "gzip"), (zstd, "zstd")])
def test_several_members_are_one_body(pack: object, encoding: str) -> None:
    parts = [pack(piece) for piece in (BODY[:10], b"", BODY[10:])]  # type: ignore[operator]
    assert opened(b"".join(parts), encoding) == BODY


def test_zeros_after_gzip_are_padding_and_other_bytes_are_not() -> None:
    assert opened(gzip.compress(BODY) + bytes(512), "gzip") == BODY
    assert reason(gzip.compress(BODY) + b"more", "gzip") == "undecodable"


def test_a_million_members_are_refused_at_once() -> None:
    assert reason(gzip.compress(b"") * 40_000, "gzip") == "undecodable"


@every
def test_a_bomb_is_refused_before_it_is_held(kind: str) -> None:
    encoding, pack = PACKED[kind]
    bomb = pack(bytes(256 * 1024**2))
    tracemalloc.start()
    try:
        assert reason(bomb, encoding) == "too_large"
        assert tracemalloc.get_traced_memory()[1] < 40 * 1024**2
    finally:
        tracemalloc.stop()


def test_the_budget_is_asked_before_bytes_are_kept() -> None:
    def refuse(_size: int) -> None:
        raise Unavailable

    with pytest.raises(Unavailable):
        unpack(gzip.compress(BODY), "gzip", limit=LIMIT, grow=refuse)


@given(st.binary(max_size=200), st.sampled_from(["gzip", "deflate", "zstd", "identity"]))
def test_any_bytes_are_unpacked_or_refused(body: bytes, encoding: str) -> None:
    try:
        found = opened(body, encoding)
    except Refused as refused:
        found = refused.reason.encode()
    assert found in (body, b"undecodable") if encoding == "identity" else len(found) <= LIMIT
