"""Every dialect of telemetry about agents, read into one language."""
