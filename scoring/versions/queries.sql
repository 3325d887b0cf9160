-- Words in double braces are filled in by scoring.metrics.statements and scoring.versions.reader from
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

-- name: crossed
SELECT
    count() AS clusters,
    countIf(m1 > 0) AS clusters1, sum(m1) AS m1, sum(y1) AS y1, sum(m1 * m1) AS m1m1, sum(m1 * y1) AS m1y1,
    sum(y1 * y1) AS y1y1,
    countIf(m0 > 0) AS clusters0, sum(m0) AS m0, sum(y0) AS y0, sum(m0 * m0) AS m0m0, sum(m0 * y0) AS m0y0,
    sum(y0 * y0) AS y0y0,
    sum(y1 * y0) AS y1y0, sum(y1 * m0) AS y1m0, sum(m1 * y0) AS m1y0, sum(m1 * m0) AS m1m0
FROM
(
    SELECT
        cluster,
        countIf(version = {new:String}) AS m1,
        countIf(version = {new:String} AND ({{y_new}})) AS y1,
        countIf(version = {old:String}) AS m0,
        countIf(version = {old:String} AND ({{y_old}})) AS y0
    FROM (SELECT *, ifNull(agent_version, '') AS version FROM ({{judged}}))
    WHERE {{scoped}} AND version IN ({new:String}, {old:String})
        AND toUnixTimestamp(toDateTime(toStartOfWeek(started_at, 1), 'UTC')) IN {weeks:Array(UInt32)}
    GROUP BY cluster
);

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
