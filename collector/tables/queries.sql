-- Words in double braces are filled in from closed sets: by collector.tables.shape, and with the
-- pieces below.
--
-- `gnomon_moment` is where a row stands in time, by the times that the inspection makes of it: a span
-- without a start stands at its end, and a negative time is one behind the year 2262, which the
-- exporter writes so. Sums of 64 bits wrap around here as they do in the exporter, which writes the
-- difference of two times, negative ones too, as UInt64.

-- name: trace_moment
toUInt64(toUnixTimestamp64Nano(Timestamp)) AS gnomon_start,
gnomon_start + toUInt64(Duration) AS gnomon_end,
toInt64(least(if(gnomon_start = 0, gnomon_end, gnomon_start), {last:UInt64})) AS gnomon_moment

-- name: log_moment
toInt64(least(toUInt64(toUnixTimestamp64Nano(Timestamp)), {last:UInt64})) AS gnomon_moment

-- name: candidates
-- By the column itself, so that whole parts are left out.
(Timestamp >= fromUnixTimestamp64Nano({since:Int64})
    OR Timestamp <= fromUnixTimestamp64Nano(toInt64(0)))

-- name: lying
{{candidates}} AND gnomon_moment >= {since:Int64} AND gnomon_moment < {until:UInt64}
    AND {{of_services}}

-- name: kind
SELECT engine FROM system.tables WHERE database = {database:String} AND name = {table:String};

-- name: columns
SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {table:String}
ORDER BY position;

-- name: trace_prints
WITH {{moment}}
SELECT
    multiIf(
        gnomon_moment = 0, {timeless:Int64},
        gnomon_moment < {until:UInt64}, intDiv(gnomon_moment, {width:Int64}),
        {far:Int64}
    ) AS window,
    count() AS rows,
    groupBitXor(cityHash64(TraceId, SpanId, Timestamp, Duration, {{weight}})) AS print
FROM {database:Identifier}.{table:Identifier}
WHERE {{candidates}} AND (gnomon_moment >= {since:Int64} OR gnomon_moment = 0) AND {{of_services}}
GROUP BY window
ORDER BY window;

-- name: trace_rows
-- Rows of which Gnomon's own table has a version that is as good (a later end, or the same end and
-- at least as many attributes) are left out, so that a window that grew is not received twice.
-- Pages go by a hash, since ids may be any bytes; rows of one hash are never parted.
WITH
    {{moment}},
    hex(sipHash128(TraceId, SpanId, Timestamp, Duration, {{weight}})) AS gnomon_place
SELECT {{columns}}, gnomon_place
FROM {database:Identifier}.{table:Identifier}
WHERE {{lying}} AND gnomon_place > {after:String} AND gnomon_place NOT IN (
    SELECT theirs.place
    FROM (
        WITH
            {{moment}},
            hex(sipHash128(TraceId, SpanId, Timestamp, Duration, {{weight}})) AS gnomon_place
        SELECT
            lower(TraceId) AS trace,
            lower(SpanId) AS span,
            (toInt64(least(gnomon_end, {last:UInt64})), toUInt64({{weight}})) AS worth,
            gnomon_place AS place
        FROM {database:Identifier}.{table:Identifier}
        WHERE {{lying}}
    ) AS theirs
    INNER JOIN (
        SELECT
            trace_id,
            span_id,
            max((
                toUnixTimestamp64Nano(end),
                toUInt64(length(attributes) - mapContains(attributes, {mark:String}))
            )) AS worth
        FROM spans
        WHERE trace_id IN (
            WITH {{moment}}
            SELECT lower(TraceId)
            FROM {database:Identifier}.{table:Identifier}
            WHERE {{lying}}
        )
        GROUP BY trace_id, span_id
    ) AS ours ON theirs.trace = ours.trace_id AND theirs.span = ours.span_id
    WHERE theirs.worth <= ours.worth
)
ORDER BY gnomon_place
LIMIT {limit:UInt32} WITH TIES;

-- name: log_prints
-- Only records that carry the name of an event say anything about a step.
WITH {{moment}}
SELECT
    multiIf(
        gnomon_moment = 0, {timeless:Int64},
        gnomon_moment < {until:UInt64}, intDiv(gnomon_moment, {width:Int64}),
        {far:Int64}
    ) AS window,
    count() AS rows,
    groupBitXor(cityHash64(TraceId, SpanId, Timestamp, Body)) AS print
FROM {database:Identifier}.{table:Identifier}
WHERE {{candidates}} AND (gnomon_moment >= {since:Int64} OR gnomon_moment = 0)
    AND {{of_services}} AND {{named}}
GROUP BY window
ORDER BY window;

-- name: log_rows
WITH {{moment}}, hex(sipHash128({{columns}})) AS gnomon_place
SELECT {{columns}}, gnomon_place
FROM {database:Identifier}.{table:Identifier}
WHERE {{lying}} AND {{named}} AND gnomon_place > {after:String}
ORDER BY gnomon_place
LIMIT {limit:UInt32} WITH TIES;
