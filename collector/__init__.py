"""From telemetry to spans, steps and runs. This room has no opinions."""
