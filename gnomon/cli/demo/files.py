"""The demo's own configuration: gnomon.yaml and the policy of the refund desk."""

from importlib.resources import files


def demo_config() -> str:
    """Return the text of a gnomon.yaml for the demo's traffic."""
    return (files(__package__ or __name__) / "gnomon.yaml").read_text(encoding="utf-8")


def demo_policy() -> str:
    """Return the text of the refund desk's trajectory policy (the language of replay cases)."""
    return (files(__package__ or __name__) / "trajectory.yaml").read_text(encoding="utf-8")
