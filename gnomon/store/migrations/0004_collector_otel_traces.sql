-- Columns and types of the OpenTelemetry Collector's ClickHouse exporter, one row for each span.
CREATE VIEW IF NOT EXISTS otel_traces {{on_cluster}} AS
SELECT
    fromUnixTimestamp64Nano(toUnixTimestamp64Nano(start)) AS Timestamp,
    trace_id AS TraceId,
    span_id AS SpanId,
    parent_span_id AS ParentSpanId,
    trace_state AS TraceState,
    name AS SpanName,
    kind AS SpanKind,
    CAST(resource['service.name'], 'LowCardinality(String)') AS ServiceName,
    resource AS ResourceAttributes,
    CAST(scope_name, 'String') AS ScopeName,
    CAST(scope_version, 'String') AS ScopeVersion,
    attributes AS SpanAttributes,
    toUInt64(greatest(toUnixTimestamp64Nano(end) - toUnixTimestamp64Nano(start), 0)) AS Duration,
    status_code AS StatusCode,
    status_message AS StatusMessage,
    CAST(`events.time`, 'Array(DateTime64(9))') AS `Events.Timestamp`,
    `events.name` AS `Events.Name`,
    `events.attributes` AS `Events.Attributes`,
    `links.trace_id` AS `Links.TraceId`,
    `links.span_id` AS `Links.SpanId`,
    `links.trace_state` AS `Links.TraceState`,
    `links.attributes` AS `Links.Attributes`
FROM spans FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
