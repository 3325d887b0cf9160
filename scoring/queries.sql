-- Words in double braces are filled in by scoring.statements from closed sets. Long lists of ids come
-- as JSON text: parsing an Array parameter costs ten times as much.

-- name: judged
SELECT run_id, revision, grader, grader_version, state, toUnixTimestamp64Nano(at) AS at,
    tries, toUnixTimestamp64Nano(again_at) AS again_at
FROM grader_status FINAL
WHERE started_at >= fromUnixTimestamp64Nano({first:Int64}, 'UTC')
    AND started_at <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
    AND run_id IN JSONExtract({runs:String}, 'Array(String)');

-- name: due
SELECT run_id, grader
FROM grader_status FINAL
WHERE (started_at, run_id, grader, grader_version, revision) IN
    (
        SELECT started_at, run_id, grader, grader_version, revision
        FROM grader_status
        WHERE again_at > fromUnixTimestamp64Nano({since:Int64}, 'UTC')
            AND again_at <= fromUnixTimestamp64Nano({now:Int64}, 'UTC')
            AND concat(grader, '\n', grader_version) IN {graders:Array(String)}
    )
    AND state = 'failed'
    AND again_at <= fromUnixTimestamp64Nano({now:Int64}, 'UTC')
ORDER BY again_at DESC
LIMIT 500;

-- name: verdicts_made
SELECT run_id, revision, toUnixTimestamp64Nano(judged_at) AS judged_at, graders, grader_versions
FROM verdicts FINAL
WHERE started_at >= fromUnixTimestamp64Nano({first:Int64}, 'UTC')
    AND started_at <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
    AND run_id IN JSONExtract({runs:String}, 'Array(String)');

-- name: outdated_verdicts
SELECT run_id, toUnixTimestamp64Nano(started_at) AS started,
    arrayFilter(
        (grader, version) -> has({names:Array(String)}, grader)
            AND NOT has({present:Array(String)}, concat(grader, '\n', version)),
        graders, grader_versions
    ) AS outdated
FROM verdicts FINAL
WHERE started_at >= fromUnixTimestamp64Nano({after:Int64}, 'UTC')
    AND (started_at > fromUnixTimestamp64Nano({after:Int64}, 'UTC') OR run_id > {after_id:String})
    AND notEmpty(outdated)
ORDER BY started_at, run_id, revision
LIMIT {limit:UInt32};

-- name: judged_by
SELECT DISTINCT run_id
FROM grader_status
WHERE started_at >= fromUnixTimestamp64Nano({first:Int64}, 'UTC')
    AND started_at <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
    AND (run_id, grader) IN JSONExtract({asked:String}, 'Array(Tuple(String, String))')
    AND concat(grader, '\n', grader_version) IN {present:Array(String)}
    AND state != 'waiting';

-- name: statuses_of_runs
SELECT {{columns}}
FROM grader_status FINAL
WHERE started_at >= fromUnixTimestamp64Nano({first:Int64}, 'UTC')
    AND started_at <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
    AND run_id IN JSONExtract({runs:String}, 'Array(String)')
ORDER BY run_id, grader, grader_version, revision;

-- name: labels_of_runs
SELECT {{columns}}
FROM labels FINAL
WHERE started_at >= fromUnixTimestamp64Nano({first:Int64}, 'UTC')
    AND started_at <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
    AND run_id IN JSONExtract({runs:String}, 'Array(String)')
ORDER BY run_id, grader, grader_version, revision;

-- name: violations_of_runs
SELECT {{columns}}
FROM violations FINAL
WHERE started_at >= fromUnixTimestamp64Nano({first:Int64}, 'UTC')
    AND started_at <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
    AND run_id IN JSONExtract({runs:String}, 'Array(String)')
ORDER BY run_id, policy, policy_version, revision, place;

-- name: violations
SELECT {{columns}}
FROM violations FINAL
WHERE {{where}}
ORDER BY started_at DESC, run_id DESC, policy DESC, policy_version DESC, revision DESC, place DESC
LIMIT {limit:UInt32};

-- name: violation_buckets
SELECT
    intDiv(toUnixTimestamp64Nano(v.started_at), {width:Int64}) * {width:Int64} AS start,
    v.policy AS policy, v.rule AS rule, v.severity AS severity,
    count() AS violations, uniqExact(v.run_id) AS runs
FROM
(
    SELECT started_at, run_id, revision, policy, policy_version, place, rule, severity
    FROM violations FINAL
    WHERE {{where}}
) AS v
INNER JOIN
(
    SELECT run_id, grader, grader_version, argMax(revision, (revision, at)) AS revision,
        argMax(violations, (revision, at)) AS violations
    FROM grader_status FINAL
    WHERE {{where_status}}
    GROUP BY run_id, grader, grader_version
) AS s
ON v.run_id = s.run_id AND v.policy = s.grader AND v.policy_version = s.grader_version
    AND v.revision = s.revision
WHERE v.place < s.violations
GROUP BY start, policy, rule, severity
ORDER BY start, policy, rule;

-- name: status_counts
SELECT grader, grader_version, state, count() AS runs, countIf(violations > 0) AS broken,
    toUnixTimestamp64Nano(max(at)) AS last_at
FROM
(
    SELECT run_id, grader, grader_version,
        argMax(state, (revision, at)) AS state,
        argMax(violations, (revision, at)) AS violations,
        max(at) AS at
    FROM grader_status FINAL
    WHERE {{where}}
    GROUP BY run_id, grader, grader_version
)
GROUP BY grader, grader_version, state
ORDER BY grader, grader_version, state;

-- name: ledger_last
SELECT {{columns}}
FROM job_ledger FINAL
WHERE job = {job:String}
ORDER BY window_end DESC, window_start
LIMIT {limit:UInt32};

-- name: backfills_last
SELECT {{columns}}
FROM backfills FINAL
ORDER BY asked_at DESC
LIMIT 1 BY grader, grader_version;

-- name: ledger_reopen
DELETE FROM job_ledger
WHERE job = {{job}} AND window_end > fromUnixTimestamp64Nano({{since}}, 'UTC');
