-- Words in double braces are filled in by collector.tables.shape from closed sets.

-- name: columns
SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {table:String}
ORDER BY position;

-- name: trace_prints
SELECT
    intDiv(toUnixTimestamp64Nano(Timestamp), {width:Int64}) AS window,
    count() AS rows,
    groupBitXor(cityHash64(TraceId, SpanId, Timestamp, Duration)) AS print
FROM {database:Identifier}.{table:Identifier}
WHERE Timestamp >= fromUnixTimestamp64Nano({since:Int64})
    AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND {{of_services}}
GROUP BY window
ORDER BY window;

-- name: trace_rows
-- Rows that Gnomon's own table has already (same id, same end) are left out, so that a window that
-- grew is not received twice.
SELECT {{columns}}
FROM {database:Identifier}.{table:Identifier}
WHERE Timestamp >= fromUnixTimestamp64Nano({since:Int64})
    AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND {{of_services}}
    AND (lower(TraceId), lower(SpanId), toUnixTimestamp64Nano(Timestamp) + Duration) NOT IN (
        SELECT trace_id, span_id, toUnixTimestamp64Nano(end)
        FROM spans
        WHERE trace_id IN (
            SELECT lower(TraceId)
            FROM {database:Identifier}.{table:Identifier}
            WHERE Timestamp >= fromUnixTimestamp64Nano({since:Int64})
                AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND {{of_services}}
        )
    )
    AND (TraceId, SpanId, toUnixTimestamp64Nano(Timestamp), Duration)
        > ({trace:String}, {span:String}, {start:Int64}, {duration:UInt64})
ORDER BY TraceId, SpanId, Timestamp, Duration
LIMIT {limit:UInt32};

-- name: log_prints
-- Only records that carry the name of an event say anything about a step.
SELECT
    intDiv(toUnixTimestamp64Nano(Timestamp), {width:Int64}) AS window,
    count() AS rows,
    groupBitXor(cityHash64(TraceId, SpanId, Timestamp, Body)) AS print
FROM {database:Identifier}.{table:Identifier}
WHERE Timestamp >= fromUnixTimestamp64Nano({since:Int64})
    AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND {{of_services}} AND {{named}}
GROUP BY window
ORDER BY window;

-- name: log_rows
SELECT {{columns}}
FROM {database:Identifier}.{table:Identifier}
WHERE Timestamp >= fromUnixTimestamp64Nano({since:Int64})
    AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND {{of_services}} AND {{named}}
ORDER BY TraceId, SpanId, Timestamp, cityHash64({{columns}})
LIMIT {limit:UInt32} OFFSET {offset:UInt64};
