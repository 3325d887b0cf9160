-- Flattens the wire as `spans_read` does.
CREATE MATERIALIZED VIEW IF NOT EXISTS logs_read {{on_cluster}} TO logs AS
WITH
    item -> coalesce(
        if(isNull(tupleElement(item, 'string_value')), NULL,
            toJSONString(tupleElement(item, 'string_value'))),
        tupleElement(item, 'int_value'),
        if(tupleElement(item, 'double_value') IN ('nan', 'inf', '-inf'),
            concat('"', tupleElement(item, 'double_value'), '"'),
            tupleElement(item, 'double_value')),
        tupleElement(item, 'bool_value'),
        concat('"', base64Encode(tupleElement(item, 'bytes_value')), '"'),
        'null'
    ) AS json,
    items -> if(empty(items), '',
        concat('[', arrayStringConcat(arrayMap(item -> json(item), items), ','), ']')
    ) AS json_array,
    value -> coalesce(
        tupleElement(value, 'string_value'),
        tupleElement(value, 'int_value'),
        tupleElement(value, 'double_value'),
        tupleElement(value, 'bool_value'),
        base64Encode(tupleElement(value, 'bytes_value')),
        json_array(tupleElement(tupleElement(value, 'array_value'), 'values'))
    ) AS text,
    pairs -> CAST(
        arrayMap(pair -> (tupleElement(pair, 'key'), text(tupleElement(pair, 'value'))), pairs),
        'Map(LowCardinality(String), String)'
    ) AS as_map,
    nanos -> fromUnixTimestamp64Nano(toInt64(least(nanos, 9223372036854775807)), 'UTC') AS moment,
    id -> lower(hex(id)) AS hexed
SELECT
    hexed(tupleElement(record, 'trace_id')) AS trace_id,
    hexed(tupleElement(record, 'span_id')) AS span_id,
    moment(tupleElement(record, 'time_unix_nano')) AS time,
    moment(tupleElement(record, 'observed_time_unix_nano')) AS observed,
    if(tupleElement(record, 'event_name') = '', attributes['event.name'],
        tupleElement(record, 'event_name')) AS event_name,
    tupleElement(record, 'severity_number') AS severity,
    tupleElement(record, 'severity_text') AS severity_text,
    text(tupleElement(record, 'body')) AS body,
    resource,
    resource_schema_url,
    as_map(tupleElement(record, 'attributes')) AS attributes,
    scope_name,
    scope_version,
    scope_attributes,
    scope_schema_url,
    tupleElement(record, 'flags') AS flags,
    tupleElement(record, 'dropped_attributes_count') AS dropped_attributes
FROM
(
    SELECT
        resource,
        resource_schema_url,
        tupleElement(scope, 'name') AS scope_name,
        tupleElement(scope, 'version') AS scope_version,
        as_map(tupleElement(scope, 'attributes')) AS scope_attributes,
        scope_schema_url,
        arrayJoin(records) AS record
    FROM
    (
        SELECT
            resource,
            resource_schema_url,
            tupleElement(scoped, 'scope') AS scope,
            tupleElement(scoped, 'schema_url') AS scope_schema_url,
            tupleElement(scoped, 'log_records') AS records
        FROM
        (
            SELECT
                as_map(tupleElement(logs_wire.resource, 'attributes')) AS resource,
                logs_wire.schema_url AS resource_schema_url,
                arrayJoin(scope_logs) AS scoped
            FROM logs_wire
        )
    )
)
