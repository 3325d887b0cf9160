-- Columns and types of the OpenTelemetry Collector's ClickHouse exporter, one row for each record.
CREATE VIEW IF NOT EXISTS otel_logs {{on_cluster}} AS
SELECT
    fromUnixTimestamp64Nano(toUnixTimestamp64Nano(
        if(toUnixTimestamp64Nano(time) = 0, observed, time))) AS Timestamp,
    trace_id AS TraceId,
    span_id AS SpanId,
    toUInt8(bitAnd(flags, 255)) AS TraceFlags,
    severity_text AS SeverityText,
    toUInt8(severity) AS SeverityNumber,
    CAST(resource['service.name'], 'LowCardinality(String)') AS ServiceName,
    body AS Body,
    resource_schema_url AS ResourceSchemaUrl,
    resource AS ResourceAttributes,
    scope_schema_url AS ScopeSchemaUrl,
    CAST(scope_name, 'String') AS ScopeName,
    scope_version AS ScopeVersion,
    scope_attributes AS ScopeAttributes,
    attributes AS LogAttributes,
    CAST(event_name, 'String') AS EventName
FROM logs FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
