-- Words in double braces are filled in by collector.statements from closed sets: columns from the
-- fields of a row type, conditions from those a filter may hold.
-- Long lists of ids come as JSON text: parsing an Array parameter costs ten times as much.

-- name: spans_of_traces
SELECT {{columns}}
FROM spans FINAL
WHERE trace_id IN JSONExtract({traces:String}, 'Array(String)');

-- name: spans_of_keys
SELECT {{columns}}
FROM spans FINAL
WHERE trace_id IN JSONExtract({traces:String}, 'Array(String)')
    AND span_id IN JSONExtract({spans:String}, 'Array(String)');

-- name: span_counts
SELECT trace_id, uniqExact(span_id) AS spans
FROM spans
WHERE trace_id IN JSONExtract({traces:String}, 'Array(String)')
GROUP BY trace_id;

-- name: logs_of_traces
SELECT {{columns}}
FROM logs FINAL
WHERE trace_id IN JSONExtract({traces:String}, 'Array(String)');

-- name: logs_of_span
SELECT {{columns}}
FROM logs FINAL
WHERE trace_id = {trace:String} AND span_id = {span:String}
ORDER BY time, observed, digest;

-- name: traces_stored
SELECT trace_id, toUnixTimestamp(max(stored_at)) * 1000000000 AS stored_at
FROM spans
WHERE trace_id > {after:String} AND start >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
GROUP BY trace_id
ORDER BY trace_id
LIMIT {limit:UInt32};

-- name: candidates
SELECT toUnixTimestamp64Nano(started_at) AS started_at, run_id
FROM runs
WHERE {{where}}
ORDER BY started_at {{direction}}, run_id {{direction}}
LIMIT {limit:UInt32};

-- name: runs
SELECT {{columns}}
FROM runs FINAL
WHERE {{where}}
ORDER BY started_at {{direction}}, run_id {{direction}}
LIMIT {limit:UInt32};

-- name: count_runs
SELECT count() AS runs FROM runs FINAL WHERE {{where}};

-- name: places
SELECT
    run_id,
    toUnixTimestamp64Nano(started_at) AS started_at,
    argMax(trace_ids, folded_at) AS trace_ids,
    argMax(state, folded_at) AS state,
    argMax(tuple(toUnixTimestamp64Nano(settled_at)), folded_at).1 AS settled_at,
    argMax(revision, folded_at) AS revision,
    toUnixTimestamp64Nano(argMax(last_received_at, folded_at)) AS last_received_at,
    argMax(content_digest, folded_at) AS content_digest,
    argMax(reading, folded_at) AS reading,
    max(folded_at) AS folded_at
FROM runs
WHERE run_id IN JSONExtract({runs:String}, 'Array(String)')
GROUP BY run_id, started_at
HAVING argMax(is_deleted, folded_at) = 0;

-- name: standing
SELECT
    toUnixTimestamp64Nano(started_at) AS started_at,
    argMax(trace_ids, folded_at) AS trace_ids
FROM runs
WHERE run_id = {run_id:String}
GROUP BY started_at
HAVING argMax(is_deleted, folded_at) = 0
ORDER BY max(folded_at) DESC
LIMIT 1;

-- name: runs_beginning
SELECT toUnixTimestamp64Nano(started_at) AS started_at, run_id
FROM runs
WHERE startsWith(run_id, {prefix:String})
GROUP BY run_id, started_at
HAVING argMax(is_deleted, folded_at) = 0
ORDER BY run_id
LIMIT {limit:UInt32};

-- name: run_at
SELECT {{columns}}
FROM runs FINAL
WHERE started_at = fromUnixTimestamp64Nano({started_at:Int64}, 'UTC') AND run_id = {run_id:String};

-- name: run_ids_of_traces
SELECT DISTINCT run_id FROM steps WHERE trace_id IN JSONExtract({traces:String}, 'Array(String)');

-- name: step_keys_of_traces
SELECT trace_id, span_id, run_id, toUnixTimestamp64Nano(started_at) AS started_at
FROM steps FINAL
WHERE trace_id IN JSONExtract({traces:String}, 'Array(String)');

-- name: step_page
-- Only what orders and conditions need is read of all steps; the rest of those that are returned.
SELECT {{columns}}
FROM steps FINAL
WHERE trace_id IN {traces:Array(String)} AND run_id = {run_id:String}
    AND (started_at, span_id, trace_id) > (
        fromUnixTimestamp64Nano({started_at:Int64}, 'UTC'), {span_id:String}, {trace_id:String}
    )
ORDER BY started_at, span_id, trace_id
LIMIT {limit:UInt32};

-- name: family
SELECT trace_id, span_id, parent_span_id, toUnixTimestamp64Nano(started_at) AS started_at
FROM steps FINAL
WHERE trace_id IN {traces:Array(String)} AND run_id = {run_id:String}
ORDER BY steps.started_at, span_id, trace_id;

-- name: steps_of_keys
SELECT {{columns}}
FROM steps FINAL
WHERE trace_id IN JSONExtract({traces:String}, 'Array(String)')
    AND span_id IN JSONExtract({spans:String}, 'Array(String)');

-- name: outline
SELECT {{columns}}
FROM steps FINAL
WHERE trace_id IN {traces:Array(String)} AND run_id = {run_id:String}
ORDER BY started_at, span_id, trace_id;

-- name: outline_of_keys
SELECT {{columns}}
FROM steps FINAL
WHERE trace_id IN {traces:Array(String)} AND run_id = {run_id:String}
    AND span_id IN JSONExtract({spans:String}, 'Array(String)')
ORDER BY started_at, span_id, trace_id;

-- name: shape
SELECT
    groupArray(trace) AS traces,
    groupArray(span_id) AS span_ids,
    groupArray(parent_span_id) AS parents,
    groupArray(start) AS starts,
    groupArray(duration_ns) AS durations,
    groupArray(kind) AS kinds,
    groupArray(counted) AS counted,
    groupArray(failed) AS failed,
    groupArray(doubled) AS doubled,
    groupUniqArray(told) AS told
FROM (
    SELECT
        indexOf({traces:Array(String)}, trace_id) AS trace,
        span_id, parent_span_id, toUnixTimestamp64Nano(started_at) AS start, duration_ns, kind, counted,
        (status = 'error')::Bool AS failed,
        (duplicate_of IS NOT NULL)::Bool AS doubled,
        ({{told}}) AS told
    FROM steps FINAL
    WHERE trace_id IN {traces:Array(String)} AND run_id = {run_id:String}
    ORDER BY started_at, span_id, trace_id
);

-- name: told
SELECT DISTINCT {{told}}
FROM steps FINAL
WHERE trace_id IN {traces:Array(String)} AND run_id = {run_id:String};

-- name: call_before
SELECT {{columns}}
FROM steps FINAL
WHERE trace_id IN {traces:Array(String)} AND run_id = {run_id:String}
    AND counted AND kind = {kind:String} AND {{same}}
    AND (started_at, span_id, trace_id) < (
        fromUnixTimestamp64Nano({started_at:Int64}, 'UTC'), {span_id:String}, {trace_id:String}
    )
ORDER BY started_at DESC, span_id DESC, trace_id DESC
LIMIT 1;

-- name: duplicates_of
SELECT duplicate_of, trace_id, span_id
FROM steps FINAL
WHERE trace_id IN JSONExtract({traces:String}, 'Array(String)')
    AND duplicate_of IN JSONExtract({spans:String}, 'Array(String)')
ORDER BY started_at, span_id;

-- name: facets
-- Runs that are alike in everything are counted first: there are few kinds, and arrays are dear.
-- The words in braces are the conditions of all facets but the one of that name. A column of the
-- result must not be named as one of the table.
SELECT
    sumMapIf([toString(alike.status)], [runs], {{status}}) AS status,
    sumMapIf([ifNull(agent_name, '')], [runs], {{agent}}) AS agent,
    sumMapIf([ifNull(agent_version, '')], [runs], {{version}}) AS version,
    sumMapIf(failures, arrayMap(e -> runs, failures), {{error_type}}) AS error_type,
    sumMapIf(models, arrayMap(m -> runs, models), {{model}}) AS model,
    sumMapIf(tools, arrayMap(t -> runs, tools), {{tool}}) AS tool,
    sumMapIf([alike.environment], [runs], {{environment}}) AS environment
FROM (
    SELECT
        status, agent_name, agent_version, environment, models, tools, error_types, error_type,
        arrayDistinct(arrayPushBack(error_types, ifNull(error_type, ''))) AS failures,
        count() AS runs
    FROM runs FINAL
    WHERE {{where}}
    GROUP BY ALL
) AS alike;

-- name: counts
SELECT
    intDiv(toUnixTimestamp64Nano(started_at), {width:Int64}) * {width:Int64} AS start,
    count() AS runs,
    countIf(status = 'error') AS errors,
    countIf(status = 'unknown') AS unknown,
    countIf(state = 'open') AS open
FROM runs FINAL
WHERE {{where}}
GROUP BY start
ORDER BY start;

-- name: buckets
SELECT
    {{keys}},
    count() AS runs,
    countIf(status = 'error') AS errors,
    countIf(status = 'unknown') AS unknown,
    countIf(state = 'open') AS open,
    -- The nearest rank, ceil(level * n): quantileExact takes floor(level * n) + 1, which is the
    -- same but where level * n is whole; a billionth less makes it the same there too.
    quantilesExactIf(0.499999999, 0.949999999)(duration_ns, state = 'settled') AS durations,
    if(countIf(state = 'settled') = 0, NULL, durations[1]) AS p50_ns,
    if(countIf(state = 'settled') = 0, NULL, durations[2]) AS p95_ns,
    round(sum(runs.cost_usd), 9) AS cost_usd,
    count(runs.cost_usd) AS costed,
    countIf(runs.input_tokens IS NOT NULL OR runs.output_tokens IS NOT NULL) AS tokened,
    sum(runs.unpriced_calls) AS unpriced_calls,
    -- Sums of UInt64 wrap around: added up in 128 bits, shown as the most that 64 hold.
    sum(toUInt128(runs.input_tokens)) AS input_sum,
    sum(toUInt128(runs.cached_tokens)) AS cached_sum,
    sum(toUInt128(runs.output_tokens)) AS output_sum,
    toUInt64(if(input_sum > 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, input_sum)) AS input_tokens,
    toUInt64(if(cached_sum > 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, cached_sum)) AS cached_tokens,
    toUInt64(if(output_sum > 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, output_sum)) AS output_tokens
FROM runs FINAL
WHERE {{where}}
{{grouped}};

-- name: deploys
SELECT agent_name AS agent, agent_version AS version, toUnixTimestamp64Nano(min(started_at)) AS at
FROM runs FINAL
WHERE {{where}} AND agent_name IS NOT NULL AND agent_version IS NOT NULL
    -- An open run without its root does not know its agent yet.
    AND (complete OR state = 'settled')
GROUP BY agent_name, agent_version
HAVING at >= {since:Int64} AND at <= {last:Int64}
ORDER BY at, agent, version;

-- name: data_version
SELECT max(max_block_number) AS block, count() AS parts
FROM system.parts
WHERE database = currentDatabase() AND table = 'runs' AND active;

-- name: settled_between
SELECT DISTINCT run_id
FROM runs
WHERE folded_at >= {start:UInt64} AND folded_at < {end:UInt64}
    AND state = 'settled' AND is_deleted = 0
ORDER BY run_id;

-- name: first_written
SELECT minOrNull(folded_at) AS at
FROM runs
WHERE folded_at >= {since:UInt64} AND state = 'settled' AND is_deleted = 0;

-- name: counted_steps
SELECT {{columns}}
FROM steps FINAL
WHERE trace_id IN JSONExtract({traces:String}, 'Array(String)') AND counted;

-- name: runs_at
SELECT {{columns}}
FROM runs FINAL
WHERE started_at >= fromUnixTimestamp64Nano({first:Int64}, 'UTC')
    AND started_at <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
    AND run_id IN JSONExtract({runs:String}, 'Array(String)');

-- name: store_ids
SELECT id FROM store_id FINAL ORDER BY created_at, id;

-- name: anything_stored
SELECT
    (SELECT count() FROM (SELECT 1 FROM spans LIMIT 1))
    + (SELECT count() FROM (SELECT 1 FROM logs LIMIT 1)) AS stored;
