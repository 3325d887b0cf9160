-- Where in time a trace lies, as the OpenTelemetry Collector's ClickHouse exporter keeps it:
-- Grafana's plug-in asks here before it looks for a trace.
CREATE VIEW IF NOT EXISTS otel_traces_trace_id_ts {{on_cluster}} AS
SELECT
    trace_id AS TraceId,
    toDateTime(min(start)) AS Start,
    toDateTime(max(start)) AS End
FROM spans
GROUP BY trace_id
