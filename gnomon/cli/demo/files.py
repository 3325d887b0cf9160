"""The demo's own configuration: gnomon.yaml and the policy of the refund desk."""

from importlib.resources import files


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


def _text(name: str) -> str:
    return (files(__package__ or __name__) / name).read_text(encoding="utf-8")
