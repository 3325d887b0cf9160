"""The demo's own configuration: gnomon.yaml and the policy of the refund desk."""

from importlib.resources import files
from pathlib import Path

from gnomon.errors import ConfigError


def demo_config(audit: str | None = None) -> str:
    """Return the text of a gnomon.yaml for the demo's traffic.

    With the address of the desk's books (`Audit.url`) its runs are judged, too. Then the policy,
    `demo_policy()`, must lie beside it as `trajectory.yaml`.
    """
    watched = _text("gnomon.yaml")
    return watched if audit is None else watched + _text("judging.yaml").replace("{{audit}}", audit)


def demo_policy() -> str:
    """Return the text of the refund desk's trajectory policy (the language of replay cases)."""
    return _text("trajectory.yaml")


def furnished(place: Path, audit: str) -> Path:
    """Lay both files into a directory; return the gnomon.yaml. Files of somebody else stay."""
    texts = {"gnomon.yaml": demo_config(audit), "trajectory.yaml": demo_policy()}
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            _refuse_foreign(place / name, text)
        for name, text in texts.items():
            (place / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{place}: {error.strerror}; choose a directory that can be written with --data"
        ) from error
    return place / "gnomon.yaml"


def _refuse_foreign(path: Path, text: str) -> None:
    """Raise where a file lies that no demo wrote: each begins with the same line."""
    if not path.exists():
        return
    first = text.partition("\n")[0]
    if path.read_text(encoding="utf-8", errors="replace").partition("\n")[0] != first:
        raise ConfigError(
            f"{path} is not the demo's and would be overwritten; choose another directory with --data"
        )


def _text(name: str) -> str:
    return (files(__package__ or __name__) / name).read_text(encoding="utf-8")
