-- Words in double braces are filled in by scoring.metrics.statements and scoring.versions.asking from
-- closed sets.

-- name: cells
SELECT
    toUnixTimestamp(toDateTime(toStartOfWeek(started_at, 1), 'UTC')) AS week,
    {{group}} AS slice,
    ifNull(agent_version, '') AS version,
    count() AS runs,
    countIf({{passed}}) AS passed,
    countIf({{undecided}}) AS undecided
FROM ({{judged}})
WHERE {{scoped}} AND version IN {versions:Array(String)}
GROUP BY week, slice, version
ORDER BY week, slice, version;

-- name: alike
SELECT
    arrayMap(one -> one.1, counts) AS weeks,
    arrayMap(one -> one.2, counts) AS slices,
    arrayMap(one -> one.3, counts) AS versions,
    arrayMap(one -> one.4, counts) AS runs,
    arrayMap(one -> one.5, counts) AS passed,
    arrayMap(one -> one.6, counts) AS undecided,
    count() AS clusters
FROM
(
    SELECT cluster, arraySort(groupArray((week, slice, version, runs_n, passed_n, undecided_n))) AS counts
    FROM
    (
        SELECT
            cluster, toUnixTimestamp(toDateTime(toStartOfWeek(started_at, 1), 'UTC')) AS week,
            {{group}} AS slice, version,
            count() AS runs_n, countIf({{passed}}) AS passed_n, countIf({{undecided}}) AS undecided_n
        FROM (SELECT *, ifNull(agent_version, '') AS version FROM ({{judged}}))
        WHERE {{scoped}} AND version IN {versions:Array(String)} AND week IN {weeks:Array(UInt32)}
        GROUP BY cluster, week, slice, version
    )
    GROUP BY cluster
)
GROUP BY counts
ORDER BY counts;

-- name: starts
SELECT
    toUnixTimestamp(toDateTime(toStartOfWeek(started_at, 1), 'UTC')) AS week,
    {{group}} AS slice,
    version,
    cluster,
    toUnixTimestamp64Nano(min(started_at)) AS first
FROM (SELECT *, ifNull(agent_version, '') AS version FROM ({{placed}}))
WHERE {{scoped}} AND version IN {versions:Array(String)}
GROUP BY week, slice, version, cluster
ORDER BY first, version, cluster, slice;

-- name: tried
SELECT *, ifNull(agent_version, '') AS version
FROM ({{judged}})
WHERE {{scoped}} AND task != '' AND version IN {versions:Array(String)}
    AND (empty({tasks:Array(String)}) OR task IN {tasks:Array(String)})
ORDER BY task, version, started_at, run_id
LIMIT {trials:UInt32} BY task, version;

-- name: same_weeks
SELECT *, ifNull(agent_version, '') AS version
FROM ({{judged}})
WHERE {{scoped}} AND version IN {versions:Array(String)}
    AND toUnixTimestamp(toDateTime(toStartOfWeek(started_at, 1), 'UTC')) IN {weeks:Array(UInt32)};

-- name: at_shared_tasks
SELECT sum(tried) AS runs, sumIf(tried, task != '' AND versions = 2) AS shared
FROM
(
    SELECT task, uniqExact(version) AS versions, count() AS tried
    FROM ({{compared}})
    GROUP BY task
);

-- name: tries
SELECT
    task,
    version,
    count() AS runs,
    countIf({{passed}}) AS passed,
    countIf({{undecided}}) AS undecided,
    toUnixTimestamp64Nano(min(started_at)) AS first_start,
    toUnixTimestamp64Nano(max(started_at)) AS last_start,
    arraySort(groupArray(20)(run_id)) AS run_ids
FROM ({{compared}})
GROUP BY task, version
ORDER BY task, version;

-- name: guard
SELECT
    version, sum(runs_n) AS runs,
    {{added}}
FROM
(
    SELECT
        version, cluster, count() AS runs_n,
        {{counted}}
    FROM ({{parted}})
    GROUP BY version, cluster
)
GROUP BY version
ORDER BY version;

-- name: broken
SELECT
    version,
    if({by_task:Bool}, task, '') AS at_task,
    policy,
    rule,
    uniqExact(run_id) AS runs,
    arraySort(groupUniqArray(20)(run_id)) AS run_ids
FROM ({{compared}})
ARRAY JOIN policies AS policy, rules AS rule, severities AS severity
WHERE severity = 'hard'
GROUP BY version, at_task, policy, rule
ORDER BY version, at_task, policy, rule;

-- name: pending
SELECT
    countIf(state = 'open') AS open,
    countIf({{scoped}}) AS settled,
    countIf({{scoped}} AND (NOT looked OR s.waiting)) AS unjudged,
    countIf({{scoped}} AND looked AND s.again) AS again,
    countIf({{scoped}} AND looked AND s.behind) AS behind,
    arraySort(groupUniqArrayArrayIf(s.graders, {{scoped}} AND looked)) AS again_graders,
    toUnixTimestamp64Nano(minIf(s.next_at, {{scoped}} AND s.again)) AS next_at,
    maxIf(s.until, {{scoped}} AND s.again) AS until
FROM
(
    SELECT *, ifNull(agent_version, '') AS version
    FROM ({{judged}})
    WHERE (state = 'open' OR {{scoped}}) AND version IN {versions:Array(String)}
        AND (empty({tasks:Array(String)}) OR task IN {tasks:Array(String)})
    ORDER BY task, version, started_at, run_id
    LIMIT {trials:UInt32} BY task, version
) AS p
LEFT JOIN
(
    SELECT
        run_id, revision,
        countIf(what = 'waiting') > 0 AS waiting,
        countIf(what = 'again') > 0 AS again,
        countIf(what = 'behind') > 0 AS behind,
        groupArrayIf(grader, what = 'again') AS graders,
        minIf(asked_at, what = 'again') AS next_at,
        maxIf(toUnixTimestamp64Nano(asked_at) + {left:Array(Int64)}[tries], what = 'again') AS until
    FROM
    (
        SELECT
            run_id, revision, toString(grader) AS grader, tries,
            ifNull(again_at, toDateTime64(0, 9, 'UTC')) AS asked_at,
            multiIf(
                state = 'waiting', 'waiting',
                state = 'failed' AND asked_at > fromUnixTimestamp64Nano({since_try:Int64}, 'UTC'), 'again',
                ''
            ) AS what
        FROM grader_status FINAL
        WHERE (started_at, run_id, grader, grader_version, revision) IN
            (
                SELECT started_at, run_id, grader, grader_version, revision
                FROM grader_status
                WHERE {{bounds}} AND ifNull(agent_version, '') IN {versions:Array(String)}
                    AND concat(grader, '\n', grader_version) IN {graders:Array(String)}
                    AND (state = 'waiting' OR again_at > fromUnixTimestamp64Nano({since_try:Int64}, 'UTC'))
            )
        UNION ALL
        SELECT g.run_id, g.revision, '', 0, toDateTime64(0, 9, 'UTC'), 'behind'
        FROM
        (
            SELECT run_id, revision, max(at) AS newest
            FROM grader_status
            WHERE {{bounds}} AND ifNull(agent_version, '') IN {versions:Array(String)}
                AND at > fromUnixTimestamp64Nano({lately:Int64}, 'UTC')
            GROUP BY run_id, revision
        ) AS g
        LEFT JOIN
        (
            SELECT run_id, revision, max(judged_at) AS judged_until
            FROM verdicts
            WHERE {{bounds}} AND judged_at > fromUnixTimestamp64Nano({lately:Int64}, 'UTC')
            GROUP BY run_id, revision
        ) AS v ON v.run_id = g.run_id AND v.revision = g.revision
        WHERE g.newest > v.judged_until
    )
    GROUP BY run_id, revision
) AS s ON s.run_id = p.run_id AND s.revision = p.revision;

-- name: undecided
SELECT
    count() AS runs,
    arraySort(groupArray(1000)(run_id)) AS run_ids,
    toUnixTimestamp64Nano(min(started_at)) AS first,
    sumMap(silent, arrayMap(one -> 1, silent)) AS why
FROM
(
    SELECT
        run_id, started_at,
        arrayMap(
            one -> concat(one.1, ' ', one.2),
            arrayFilter(
                one -> one.2 != 'graded' AND one.3 = {surface:String},
                arrayZip(graders, states, surfaces)
            )
        ) AS silent
    FROM ({{compared}})
    WHERE {{undecided}}
);

-- name: decided_since
SELECT countIf({{scoped}} AND NOT ({{undecided}})) AS runs
FROM ({{judged}})
WHERE run_id IN {run_ids:Array(String)};

-- name: pins
SELECT ifNull(agent_version, '') AS version, pin, value, count() AS runs
FROM {{runs}}
ARRAY JOIN mapKeys(manifest) AS pin, mapValues(manifest) AS value
WHERE {{scoped}} AND version IN {versions:Array(String)}
GROUP BY version, pin, value
ORDER BY version, pin, value;

-- name: scoped_runs
SELECT ifNull(agent_version, '') AS version, count() AS runs
FROM {{runs}}
WHERE {{scoped}} AND version IN {versions:Array(String)}
GROUP BY version
ORDER BY version;

-- name: judges
SELECT ifNull(r.agent_version, '') AS version, j.grader AS grader, j.grader_version AS grader_version,
    count() AS runs
FROM ({{judgements}}) AS j
INNER JOIN (SELECT run_id, revision, agent_version FROM {{runs}} WHERE {{scoped}}) AS r
    ON r.run_id = j.run_id AND r.revision = j.revision
WHERE j.state = 'graded' AND j.surface = {surface:String} AND version IN {versions:Array(String)}
GROUP BY version, grader, grader_version
ORDER BY version, grader, grader_version;

-- name: ran
SELECT DISTINCT
    ifNull(agent_name, '') AS agent,
    ifNull(agent_version, '') AS version,
    environment,
    toString(origin) AS origin,
    business_keys[{task:String}] != '' AS tasked
FROM {{arrivals}}
ORDER BY agent, version, environment, origin, tasked;

-- name: first_runs
SELECT version, uniqExact(cluster) AS units
FROM (SELECT *, ifNull(agent_version, '') AS version FROM ({{placed}}))
WHERE {{scoped}} AND version != ''
GROUP BY version
ORDER BY min(started_at), version;

-- name: common_tasks
WITH tried AS
(
    SELECT task, ifNull(agent_version, '') AS version
    FROM ({{placed}})
    WHERE {{scoped}} AND task != '' AND version != ''
    GROUP BY task, version
    HAVING count() >= {trials:UInt32}
)
SELECT o.version AS base, n.version AS cand, count() AS units
FROM tried AS o
INNER JOIN tried AS n ON n.task = o.task
WHERE base != cand
GROUP BY base, cand;

-- name: judged_since
SELECT toUnixTimestamp64Nano(min(at)) AS first
FROM verdicts
WHERE at >= fromUnixTimestamp64Nano({moment:Int64}, 'UTC')
HAVING count() > 0;

-- name: arrived
SELECT ifNull(agent_version, '') AS version, toUnixTimestamp64Nano(min(last_received_at)) AS at
FROM {{arrivals}}
WHERE NOT {with_task:Bool} OR business_keys[{task:String}] != ''
GROUP BY version
ORDER BY version;

-- name: in_force
SELECT place, digest, at, rule, text, ran
FROM
(
    SELECT place, digest, toUnixTimestamp64Nano(compare_in_force.at) AS at, rule, text, ran
    FROM compare_in_force
    UNION ALL
    SELECT
        toUInt32(0) AS place, digest, toUnixTimestamp64Nano(min(first_seen_at)) AS at,
        any(compare_rules.rule) AS rule, any(compare_rules.text) AS text,
        argMin(versions, first_seen_at) AS ran
    FROM compare_rules
    GROUP BY digest
)
ORDER BY place, at, digest;

-- name: progress
SELECT
    arraySort([base, cand]) AS versions,
    max(look) AS taken,
    argMax(JSONExtractString(result, 'decision', 'verdict'), look) AS verdict
FROM compare_looks
WHERE digest = {digest:String}
GROUP BY versions;

-- name: looks
SELECT
    l.digest AS digest,
    l.look AS look,
    any(l.agent) AS agent,
    any(l.environment) AS environment,
    any(l.origin) AS origin,
    argMin(l.base, (l.seen_at, l.result)) AS base,
    argMin(l.cand, (l.seen_at, l.result)) AS cand,
    argMin(l.result, (l.seen_at, l.result)) AS result,
    any(r.text) AS text
FROM compare_looks AS l
LEFT JOIN
(
    SELECT digest, any(text) AS text
    FROM (SELECT digest, text FROM compare_in_force UNION ALL SELECT digest, text FROM compare_rules)
    GROUP BY digest
) AS r ON r.digest = l.digest
WHERE (l.base, l.cand) IN (({base:String}, {cand:String}), ({cand:String}, {base:String}))
    AND ({agent:String} IN ('', l.agent) OR l.agent = '')
GROUP BY digest, look
ORDER BY digest, look;
