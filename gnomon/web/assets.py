"""Static files under names that carry their hash, so that a browser may keep them for ever."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One static file as it is sent."""

    name: str
    """With its hash: `app.1f2e3d4c5b.css`."""
    body: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Assets:
    """All static files, by plain name and by hashed name."""

    plain: Mapping[str, Asset]
    hashed: Mapping[str, Asset]

    def url(self, name: str) -> str:
        """Return where a file is, given its plain name; raises KeyError for a file not shipped."""
        return f"/static/{self.plain[name].name}"


def load() -> Assets:
    """Read the shipped files."""
    plain = {}
    for file in files(__package__).joinpath("static").iterdir():
        stem, _, kind = file.name.rpartition(".")
        if kind not in TYPES:
            continue
        body = file.read_bytes()
        digest = hashlib.sha256(body).hexdigest()[:10]
        plain[file.name] = Asset(name=f"{stem}.{digest}.{kind}", body=body, media_type=TYPES[kind])
    return Assets(plain, {asset.name: asset for asset in plain.values()})
