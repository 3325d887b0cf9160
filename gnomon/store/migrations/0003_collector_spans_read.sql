-- Flattens the wire. `tupleElement` and not a dot: the dot makes ClickHouse list every subcolumn
-- of the type for each use, which doubles the fixed cost of an INSERT.
CREATE MATERIALIZED VIEW IF NOT EXISTS spans_read {{on_cluster}} TO spans AS
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
    hexed(tupleElement(span, 'trace_id')) AS trace_id,
    hexed(tupleElement(span, 'span_id')) AS span_id,
    hexed(tupleElement(span, 'parent_span_id')) AS parent_span_id,
    tupleElement(span, 'trace_state') AS trace_state,
    tupleElement(span, 'name') AS name,
    transform(tupleElement(span, 'kind'), [1, 2, 3, 4, 5],
        ['Internal', 'Server', 'Client', 'Producer', 'Consumer'], 'Unspecified') AS kind,
    moment(tupleElement(span, 'start_time_unix_nano')) AS start,
    moment(tupleElement(span, 'end_time_unix_nano')) AS end,
    transform(tupleElement(tupleElement(span, 'status'), 'code'), [1, 2], ['Ok', 'Error'],
        'Unset') AS status_code,
    tupleElement(tupleElement(span, 'status'), 'message') AS status_message,
    resource,
    as_map(tupleElement(span, 'attributes')) AS attributes,
    scope_name,
    scope_version,
    scope_attributes,
    arrayMap(e -> moment(tupleElement(e, 'time_unix_nano')), tupleElement(span, 'events'))
        AS `events.time`,
    arrayMap(e -> tupleElement(e, 'name'), tupleElement(span, 'events')) AS `events.name`,
    arrayMap(e -> as_map(tupleElement(e, 'attributes')), tupleElement(span, 'events'))
        AS `events.attributes`,
    arrayMap(l -> hexed(tupleElement(l, 'trace_id')), tupleElement(span, 'links'))
        AS `links.trace_id`,
    arrayMap(l -> hexed(tupleElement(l, 'span_id')), tupleElement(span, 'links'))
        AS `links.span_id`,
    arrayMap(l -> tupleElement(l, 'trace_state'), tupleElement(span, 'links'))
        AS `links.trace_state`,
    arrayMap(l -> as_map(tupleElement(l, 'attributes')), tupleElement(span, 'links'))
        AS `links.attributes`,
    tupleElement(span, 'dropped_attributes_count') AS dropped_attributes,
    tupleElement(span, 'dropped_events_count') AS dropped_events,
    tupleElement(span, 'dropped_links_count') AS dropped_links
FROM
(
    SELECT
        resource,
        tupleElement(scope, 'name') AS scope_name,
        tupleElement(scope, 'version') AS scope_version,
        as_map(tupleElement(scope, 'attributes')) AS scope_attributes,
        arrayJoin(spans) AS span
    FROM
    (
        SELECT
            resource,
            tupleElement(scoped, 'scope') AS scope,
            tupleElement(scoped, 'spans') AS spans
        FROM
        (
            SELECT
                as_map(tupleElement(spans_wire.resource, 'attributes')) AS resource,
                arrayJoin(scope_spans) AS scoped
            FROM spans_wire
        )
    )
)
