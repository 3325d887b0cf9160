"""Images, sounds and files inside messages: what they are and where, never their bytes."""

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping
from typing import Final

from gnomon.model import JsonValue

_MODALITIES: Final = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "image_file": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "document": "document",
    "file": "document",
    "input_file": "document",
    "inline_data": None,
    "inlineData": None,
    "file_data": None,
    "fileData": None,
    "image-url": "image",
    "audio-url": "audio",
    "video-url": "video",
    "document-url": "document",
    "binary": None,
    "blob": None,
    "uri": None,
    "media": None,
}
"""Block types that hold media, and the modality they imply."""

_NESTED: Final = (
    "source",
    "image_url",
    "input_audio",
    "image",
    "audio",
    "video",
    "document",
    "file",
    "image_file",
    "inline_data",
    "inlineData",
    "file_data",
    "fileData",
    "s3Location",
)
_URIS: Final = ("uri", "url", "file_uri", "fileUri", "file_url", "image_url", "file_id", "fileId")
_BYTES: Final = ("data", "content", "bytes", "file_data", "base64", "image")
_TYPES: Final = ("mime_type", "mimeType", "media_type", "mediaType")
_MAX_NESTING: Final = 4


def media_of(kind: str, block: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """Return a media part, or None where the block is no media or its place is unknown."""
    if kind not in _MODALITIES:
        return None
    levels = list(_levels(block, _MAX_NESTING))
    mime = _first(levels, _TYPES) or _mime_of_format(kind, levels)
    for level in levels:
        if (place := _place(level)) is not None:
            embedded, where = place
            mime = mime or embedded
            modality = _first(levels, ("modality",)) or _MODALITIES[kind] or _modality_of(mime)
            return {"type": "media", "modality": modality, "mime_type": mime, **where}
    return None


def _levels(block: Mapping[str, JsonValue], left: int) -> Iterator[Mapping[str, JsonValue]]:
    """Yield the block and the blocks nested in it, outermost first."""
    yield block
    for key in _NESTED if left else ():
        inner = block.get(key)
        if isinstance(inner, Mapping):
            yield from _levels(inner, left - 1)


def _first(levels: list[Mapping[str, JsonValue]], keys: tuple[str, ...]) -> str | None:
    for level in levels:
        for key in keys:
            value = level.get(key)
            if isinstance(value, str) and value:
                return value
    return None


def _mime_of_format(kind: str, levels: list[Mapping[str, JsonValue]]) -> str | None:
    """Return the media type of formats named in one word (`wav`, `png`)."""
    word = _first(levels, ("format",))
    modality = _MODALITIES[kind]
    return f"{modality}/{word}" if word and modality in ("image", "audio", "video") else None


def _place(level: Mapping[str, JsonValue]) -> tuple[str | None, dict[str, str]] | None:
    """Return the embedded media type and where the bytes are, or their digest."""
    for key in _URIS:
        value = level.get(key)
        if isinstance(value, str) and value:
            return _of_address(value)
    for key in _BYTES:
        value = level.get(key)
        if isinstance(value, str) and value:
            address = value.startswith(("data:", "http://", "https://", "s3://", "gs://"))
            return _of_address(value) if address else (None, {"bytes_sha256": _digest(value)})
    return None


def _of_address(value: str) -> tuple[str | None, dict[str, str]]:
    if not value.startswith("data:"):
        return None, {"uri": value}
    head, _, data = value[5:].partition(",")
    return head.partition(";")[0] or None, {"bytes_sha256": _digest(data)}


def _digest(data: str) -> str:
    """Return the SHA-256 of the bytes behind base64 text, or of the text where it is none."""
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        content = data.encode(errors="surrogatepass")
    return hashlib.sha256(content).hexdigest()


def _modality_of(mime: str | None) -> str | None:
    family = (mime or "").partition("/")[0]
    return family if family in ("image", "audio", "video", "text") else "document" if mime else None
