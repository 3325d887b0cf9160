"""Unpacking bodies piece by piece, so that nothing larger than the limit is ever held."""

import zlib
from collections.abc import Callable

import zstandard

from collector.receiving.refusals import Refused

ENCODINGS = ("gzip", "deflate", "zstd", "identity")

_PIECE = 256 * 1024
"""Bytes unpacked at a time."""
_GZIP_STEP = 64 * 1024
_ZSTD_STEP = 1024
"""Bytes fed at a time. zstd can not be told to stop: 1 kB of it becomes 32 MB at the most."""
_ZSTD_WINDOW = 8 * 1024**2
"""What RFC 9659 allows a sender of `Content-Encoding: zstd`."""
_MAX_PARTS = 1000
"""gzip members or zstd frames in one body."""
_GZIP, _ZLIB, _RAW = 31, 15, -15

Grow = Callable[[int], None]
"""Told before more bytes are kept; raises when there is no room for them."""


class _Output:
    """The unpacked bytes, up to the limit."""

    def __init__(self, limit: int, grow: Grow) -> None:
        self._limit = limit
        self._grow = grow
        self._size = 0
        self._pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        """Keep a piece; raises Refused beyond the limit."""
        self._size += len(piece)
        if self._size > self._limit:
            raise too_large(self._limit)
        self._grow(len(piece))
        self._pieces.append(piece)

    def joined(self) -> bytes:
        """Return everything."""
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)


def too_large(limit: int) -> Refused:
    """Return the refusal of a body over the limit."""
    return Refused(
        "too_large",
        f"the body is larger than {limit} bytes after decompression; send smaller batches",
    )


def unpack(body: bytes, encoding: str, *, limit: int, grow: Grow) -> bytes:
    """Return the body as it was before it was compressed."""
    if len(body) > limit:
        raise too_large(limit)
    output = _Output(limit, grow)
    try:
        match encoding:
            case "identity":
                return body
            case "gzip":
                _inflate(body, _GZIP, output)
            case "deflate":
                _inflate(body, _ZLIB if looks_like_zlib(body) else _RAW, output)
            case "zstd":
                _unpack_zstd(body, output)
            case _:
                raise ValueError(f"unknown encoding {encoding}")
    except (zlib.error, zstandard.ZstdError) as error:
        raise Refused("undecodable", f"the body is no {encoding}: {error}") from error
    return output.joined()


def looks_like_zlib(body: bytes) -> bool:
    """Tell a zlib stream from a raw deflate stream by its two bytes of header."""
    return len(body) >= 2 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0


def looks_like_gzip(body: bytes) -> bool:
    """Tell gzip by its magic number, which no OTLP message begins with."""
    return body.startswith(b"\x1f\x8b")


def _inflate(body: bytes, kind: int, output: _Output) -> None:
    view = memoryview(body)
    at = 0
    for _ in range(_MAX_PARTS):
        machine = zlib.decompressobj(kind)
        rest = b""
        while not machine.eof:
            if not rest:
                rest = view[at : at + _GZIP_STEP].tobytes()
                at += len(rest)
            exhausted = not rest
            piece = machine.decompress(rest, _PIECE)
            rest = machine.unconsumed_tail
            if piece:
                output.add(piece)
            elif exhausted and not machine.eof:
                raise zlib.error("it ends too early")
        at -= len(machine.unused_data)
        if kind != _GZIP or not view[at : at + _GZIP_STEP].tobytes().strip(b"\0"):
            return
    raise zlib.error(f"more than {_MAX_PARTS} members")


def _unpack_zstd(body: bytes, output: _Output) -> None:
    view = memoryview(body)
    at = 0
    for _ in range(_MAX_PARTS):
        machine = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
        while not machine.eof:
            step = view[at : at + _ZSTD_STEP].tobytes()
            at += len(step)
            if not step:
                raise zstandard.ZstdError("it ends too early")
            piece = machine.decompress(step)
            if piece:
                output.add(piece)
        at -= len(machine.unused_data)
        if at >= len(body):
            return
    raise zstandard.ZstdError(f"more than {_MAX_PARTS} frames")
