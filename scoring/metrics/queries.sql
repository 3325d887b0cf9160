-- Words in double braces are filled in by scoring.metrics.statements from closed sets: relations of
-- the collector, conditions and amounts of scoring.metrics.parts. A run is judged by the newest version of
-- each grader, at its present revision. Rows may stand twice until parts are merged, hence argMax and
-- distinct sets.

-- name: judgements
SELECT
    run_id,
    revision,
    grader,
    last.1 AS grader_version,
    last.2 AS state,
    last.3 AS surface,
    last.4 AS kind,
    if(label.1 = grader_version, label.2, NULL) AS passed,
    if(label.1 = grader_version, label.3, NULL) AS claimed,
    arrayFilter(b -> b.1 = grader_version AND b.2 < last.5, found) AS breaches
FROM
(
    SELECT
        run_id,
        revision,
        grader,
        argMaxIf((version, state, surface, kind, violations), at, what = 1) AS last,
        argMaxIf((version, passed, claimed), at, what = 2) AS label,
        groupArrayIf((version, place, rule, hard), what = 3) AS found
    FROM
    (
        SELECT
            1 AS what, run_id, revision, grader, grader_version AS version, at,
            toString(state) AS state, toString(surface) AS surface, toString(kind) AS kind, violations,
            CAST(NULL AS Nullable(Bool)) AS passed, CAST(NULL AS Nullable(Bool)) AS claimed,
            0 AS place, '' AS rule, false AS hard
        FROM grader_status
        WHERE {{bounds}}
        UNION ALL
        SELECT 2, run_id, revision, grader, grader_version, at, '', '', '', 0, passed, claimed, 0, '', false
        FROM labels
        WHERE {{bounds}}
        UNION ALL
        SELECT
            3, run_id, revision, policy, policy_version, at, '', '', '', 0, NULL, NULL, place,
            toString(rule), severity = 'hard'
        FROM violations
        WHERE {{bounds}}
    )
    GROUP BY run_id, revision, grader
    HAVING countIf(what = 1) > 0
);

-- name: breaches
SELECT run_id, revision, grader AS policy, surface, breach.3 AS rule, if(breach.4, 'hard', 'soft') AS severity
FROM (SELECT * FROM ({{judgements_with_breaches}}) WHERE notEmpty(breaches))
ARRAY JOIN breaches AS breach;

-- name: placed
SELECT
    *,
    {{group}} AS grp,
    if({cluster:String} = '', '', business_keys[{cluster:String}]) AS cluster_key,
    if(cluster_key = '', run_id, concat('key ', cluster_key)) AS cluster,
    {cluster:String} != '' AND cluster_key = '' AS cluster_missing,
    business_keys[{task:String}] AS task
FROM {{runs}};

-- name: judged
SELECT
    r.* EXCEPT (run_id, revision),
    r.run_id AS run_id,
    r.revision AS revision,
    -- 1 right, 0 wrong, -1 nobody knows; by code, else by people, never by a model or the agent
    multiIf(
        j.code_failed > 0, 0,
        j.code_passed > 0, 1,
        j.people_failed_n > 0, 0,
        j.people_passed_n > 0, 1,
        -1
    ) AS verified,
    j.claims > 0 AS claimed,
    j.false_claims > 0 AS claim_contradicted,
    j.people_failed_n + j.people_passed_n > 0 AS people_judged,
    j.people_passed_n > 0 AND j.people_failed_n = 0 AS people_passed,
    j.policies AS policies_judged,
    j.budgets AS budgets_judged,
    j.broken > 0 AS policy_broken,
    j.hard > 0 AS hard,
    j.budget > 0 AS budget_hit,
    j.checks > 0 AS checks_missed,
    j.doubled > 0 AS doubled,
    j.gates > 0 AS gates_broken,
    {{act_columns}}
FROM ({{placed}}) AS r
LEFT JOIN
(
    SELECT
        run_id,
        revision,
        countIf(surface = 'outcome' AND kind = 'code' AND isNull(claimed) AND passed = 0) AS code_failed,
        countIf(surface = 'outcome' AND kind = 'code' AND isNull(claimed) AND passed = 1) AS code_passed,
        countIf(surface = 'outcome' AND kind = 'human' AND passed = 0) AS people_failed_n,
        countIf(surface = 'outcome' AND kind = 'human' AND passed = 1) AS people_passed_n,
        countIf(claimed = 1) AS claims,
        countIf(claimed = 1 AND passed = 0) AS false_claims,
        countIf(surface IN ('policy', 'efficiency') AND state = 'graded') AS budgets,
        countIf(surface = 'policy' AND state = 'graded') AS policies,
        countIf(surface = 'policy' AND notEmpty(breaches)) AS broken,
        countIf(surface = 'policy' AND arrayExists(b -> b.4, breaches)) AS hard,
        countIf(arrayExists(b -> startsWith(b.3, 'budgets.'), breaches)) AS budget,
        countIf(
            surface = 'policy' AND arrayExists(b -> match(b.3, '^(conditionally_)?required_before\\.'), breaches)
        ) AS checks,
        countIf(surface = 'policy' AND arrayExists(b -> startsWith(b.3, 'prohibited.'), breaches)) AS doubled,
        countIf(
            surface = 'policy' AND arrayExists(b -> startsWith(b.3, 'conditionally_required_before.'), breaches)
        ) AS gates
    FROM ({{judgements}})
    GROUP BY run_id, revision
) AS j ON j.run_id = r.run_id AND j.revision = r.revision
{{acts}};

-- name: acts
LEFT JOIN
(
    SELECT
        run_id,
        countIf(kind IN ('llm', 'embedding')) AS model_steps,
        countIf(
            kind IN ('llm', 'embedding') AND status = 'ok' AND isNull(input_tokens) AND isNull(output_tokens)
        ) AS steps_without_usage,
        toInt64(countIf(kind = 'tool' AND told))
            - toInt64(uniqExactIf(cityHash64(tool_name, tool_arguments), kind = 'tool' AND told)) AS repeats,
        countIf(kind = 'human' AND NOT approved) AS interventions,
        countIf(approved AND NOT automatic) AS approvals,
        countIf(approved AND automatic) AS auto_approvals,
        countIf(isNotNull(decision) AND NOT automatic) AS decisions,
        countIf(isNotNull(decision) AND NOT automatic AND NOT approved) AS overrides,
        sumIf(duration_ns, kind = 'human') AS waiting_ns,
        groupArrayIf(duration_ns, kind = 'human' AND isNotNull(decision) AND NOT automatic) AS decision_ns,
        groupArrayIf(
            ifNull(input_tokens, 0) + ifNull(output_tokens, 0),
            kind IN ('llm', 'embedding') AND (isNotNull(input_tokens) OR isNotNull(output_tokens))
        ) AS call_tokens
    FROM
    (
        SELECT
            *,
            isNotNull(tool_name) AND isNotNull(tool_arguments) AS told,
            ifNull(lower(decision) IN ('approve', 'approved', 'accept', 'accepted', 'allow', 'allowed', 'yes'), 0)
                AS approved,
            ifNull(lower(decision_source) IN ('config', 'hook', 'auto', 'automatic', 'policy', 'rule'), 0)
                AS automatic
        FROM {{steps}}
    )
    GROUP BY run_id
) AS s ON s.run_id = r.run_id;

-- name: act_columns
s.* EXCEPT (run_id);

-- name: no_act_columns
0 AS model_steps, 0 AS steps_without_usage, 0 AS repeats, 0 AS interventions, 0 AS approvals, 0 AS auto_approvals,
0 AS decisions, 0 AS overrides, 0 AS waiting_ns, CAST([] AS Array(UInt64)) AS decision_ns,
CAST([] AS Array(UInt64)) AS call_tokens;

-- name: sums_of_clusters
SELECT
    grp,
    {{counted}},
    sumIf(ifNull(cost_usd, 0) + waiting_ns / 60e9 * {people_usd_per_minute:Float64}, {{scoped}})
        AS unit_cost,
    groupArrayIf(duration_ns, {{finished}}) AS finished_ns,
    groupArrayIf(duration_ns, {{aborted}}) AS aborted_ns,
    groupArrayIf(assumeNotNull(cost_usd), {{priced}}) AS costs,
    groupArrayArrayIf(decision_ns, {{scoped}}) AS decision_ns,
    groupArrayArrayIf(call_tokens, {{scoped}}) AS call_tokens
FROM ({{judged}})
GROUP BY grp, cluster;

-- name: sums_of_runs
SELECT
    grp,
    {{each}},
    if({{scoped}}, ifNull(cost_usd, 0) + waiting_ns / 60e9 * {people_usd_per_minute:Float64}, 0)
        AS unit_cost,
    if({{finished}}, [duration_ns], []) AS finished_ns,
    if({{aborted}}, [duration_ns], []) AS aborted_ns,
    if({{priced}}, [assumeNotNull(cost_usd)], []) AS costs,
    if({{scoped}}, decision_ns, []) AS decision_ns,
    if({{scoped}}, call_tokens, []) AS call_tokens
FROM ({{judged}});

-- name: sums
SELECT
    grp,
    {{added}},
    arraySort(groupArrayArray(finished_ns)) AS finished_ns,
    arraySort(groupArrayArray(aborted_ns)) AS aborted_ns,
    arraySort(groupArrayArray(costs)) AS costs,
    groupArrayIf(unit_cost, part_scoped > 0) AS unit_costs,
    groupArrayIf(part_verified, part_scoped > 0) AS unit_solved,
    arraySort(groupArrayArray(decision_ns)) AS decision_ns,
    sum(length(call_tokens)) AS calls_with_tokens,
    arraySort(groupArrayArray(call_tokens))[intDiv(90 * calls_with_tokens + 99, 100)] AS p90_call_tokens
FROM ({{units}})
GROUP BY grp
ORDER BY grp;

-- name: graders
SELECT
    grp, surface, grader, kind,
    groupUniqArray(grader_version) AS versions,
    sum(graded_n) AS graded, sum(passed_n) AS passed, sum(scored_n) AS scored,
    sum(abstained_n) AS abstained, sum(failed_n) AS failed,
    sum(not_applicable_n) AS not_applicable, sum(waiting_n) AS waiting,
    countIf(scored_n > 0) AS clusters,
    sum(toFloat64(scored_n) * scored_n) AS mm, sum(toFloat64(scored_n) * passed_n) AS my,
    sum(toFloat64(passed_n) * passed_n) AS yy
FROM
(
    SELECT
        r.grp AS grp, r.cluster AS cluster, j.surface AS surface, j.grader AS grader, j.kind AS kind,
        any(j.grader_version) AS grader_version,
        countIf(j.state = 'graded') AS graded_n,
        countIf(j.state = 'graded' AND isNotNull(j.passed)) AS scored_n,
        countIf(j.state = 'graded' AND j.passed = 1) AS passed_n,
        countIf(j.state = 'abstained') AS abstained_n,
        countIf(j.state = 'failed') AS failed_n,
        countIf(j.state = 'not_applicable') AS not_applicable_n,
        countIf(j.state = 'waiting') AS waiting_n
    FROM ({{judgements}}) AS j
    INNER JOIN
    (SELECT run_id, revision, grp, cluster FROM ({{placed}}) WHERE {{scoped}}) AS r ON r.run_id = j.run_id AND r.revision = j.revision
    GROUP BY grp, cluster, surface, grader, kind
)
GROUP BY grp, surface, grader, kind
ORDER BY grp, surface, grader, kind;

-- name: rules
SELECT grp, policy, rule, severity, uniqExact(run_id) AS runs, uniqExact(cluster) AS clusters
FROM
(
    SELECT r.grp AS grp, r.cluster AS cluster, b.run_id AS run_id, b.policy AS policy, b.rule AS rule,
        b.severity AS severity
    FROM ({{breaches}}) AS b
    INNER JOIN
    (SELECT run_id, revision, grp, cluster FROM ({{placed}}) WHERE {{scoped}}) AS r ON r.run_id = b.run_id AND r.revision = b.revision
)
GROUP BY grp, policy, rule, severity
ORDER BY grp, policy, rule, severity;

-- name: behind
SELECT b.run_id AS run_id, toUnixTimestamp64Nano(b.started_at) AS started_at
FROM ({{judged}}) AS b
WHERE ({{part}})
    AND (
        toUnixTimestamp64Nano(b.started_at) < {before:Int64}
        OR (toUnixTimestamp64Nano(b.started_at) = {before:Int64} AND b.run_id < {before_id:String})
    )
    AND (
        {grader:String} = ''
        OR (b.run_id, b.revision) IN (
            SELECT run_id, revision
            FROM ({{judgements}})
            WHERE grader = {grader:String} AND state = 'graded' AND isNotNull(passed)
                AND ({verdict:String} = 'any' OR passed = ({verdict:String} = 'pass'))
        )
    )
    AND (
        {rule:String} = ''
        OR (b.run_id, b.revision) IN (
            SELECT run_id, revision FROM ({{breaches}}) WHERE concat(policy, '/', rule) = {rule:String}
        )
    )
ORDER BY started_at DESC, run_id DESC
LIMIT {limit:UInt32};

-- name: tasks
SELECT
    task,
    ifNull(agent_version, '') AS version,
    count() AS runs,
    countIf(verified = 1) AS verified,
    countIf(verified = -1) AS unverified,
    countIf({{clean}}) AS clean,
    countIf(NOT ({{checked}})) AS unchecked,
    countIf(status = 'ok') AS finished,
    groupArrayIf(tool_calls, verified = 1) AS solved_steps,
    toUnixTimestamp64Nano(min(started_at)) AS first_start,
    arraySort(groupArray(20)(run_id)) AS run_ids
FROM ({{judged}})
WHERE {{scoped}} AND task != '' AND version IN {versions:Array(String)}
GROUP BY task, version
ORDER BY task, version;

-- name: conditions
SELECT
    grp,
    task,
    manifest['variant'] AS variant,
    manifest['fault'] != '' AS fault,
    count() AS runs,
    countIf(verified = 1) AS verified
FROM ({{judged}})
WHERE {{scoped}} AND task != ''
GROUP BY grp, task, variant, fault
ORDER BY grp, task, variant, fault;

-- name: newest_versions
SELECT version
FROM
(
    SELECT ifNull(agent_version, '') AS version, min(started_at) AS first
    FROM {{runs}}
    WHERE {{scoped}}
    GROUP BY version
)
ORDER BY first DESC, version DESC
LIMIT 2;
