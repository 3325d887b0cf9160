"""Tables that an OpenTelemetry Collector writes into the same ClickHouse, read as a way in (5)."""
