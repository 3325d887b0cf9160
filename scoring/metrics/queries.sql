-- Words in double braces are filled in by scoring.metrics.statements from closed sets: relations of
-- the collector, conditions and amounts of scoring.metrics.parts. A run is judged by the newest version of
-- each grader, at its present revision: scoring.verdict says what that comes to, a row of `verdicts` holds it.

-- name: verdicts
SELECT run_id, revision, {{verdict_columns}} FROM verdicts FINAL WHERE {{bounds}};

-- name: judgements
SELECT run_id, revision, grader, grader_version, state, surface, kind, if(pass < 0, NULL, pass = 1) AS passed
FROM (SELECT * FROM verdicts FINAL WHERE {{bounds}})
ARRAY JOIN graders AS grader, grader_versions AS grader_version, states AS state, surfaces AS surface, kinds AS kind,
    passes AS pass;

-- name: placed
SELECT
    *,
    {{group}} AS grp,
    if({cluster:String} = '', '', business_keys[{cluster:String}]) AS cluster_key,
    business_keys[{task:String}] AS task,
    multiIf(
        cluster_key != '', concat('key ', cluster_key),
        {by_task:Bool} AND task != '', concat('task ', task),
        run_id
    ) AS cluster,
    {cluster:String} != '' AND cluster_key = '' AS cluster_missing
FROM {{runs}};

-- name: judged
SELECT
    r.* EXCEPT (run_id, revision),
    r.run_id AS run_id,
    r.revision AS revision,
    v.run_id != '' AS looked,
    if(looked, v.verified, -1) AS verified,
    if(looked, v.claim_held, -1) AS claim_held,
    v.* EXCEPT (run_id, revision, verified, claim_held),
    v.waiting_ns / 60e9 * {people_usd_per_minute:Float64} AS people_usd,
    ifNull(r.cost_usd, 0) + people_usd AS spent_usd
FROM ({{placed}}) AS r
LEFT JOIN ({{verdicts}}) AS v ON v.run_id = r.run_id AND v.revision = r.revision;

-- name: counted
SELECT
    grp, cluster, is_scoped, is_verified,
    [{{counts}}] AS own_counts,
    if(is_scoped, [{{totals}}], []) AS own_totals,
    if(is_scoped, spent_usd, 0) AS own_cost,
    if(is_finished, [duration_ns], []) AS own_finished_ns,
    if(is_aborted, [duration_ns], []) AS own_aborted_ns,
    if(is_priced, [spent_usd], []) AS own_costs,
    if(is_scoped, decision_ns, []) AS own_decision_ns,
    if(is_scoped, call_tokens, []) AS own_call_tokens
FROM ({{parted}});

-- name: sums_of_runs
SELECT *, is_scoped AS unit_scoped, is_verified AS unit_verified FROM ({{counted}});

-- name: sums_of_clusters
SELECT
    grp,
    sum(is_scoped) AS unit_scoped,
    sum(is_verified) AS unit_verified,
    sumForEach(own_counts) AS own_counts,
    sumForEach(own_totals) AS own_totals,
    sum(own_cost) AS own_cost,
    groupArrayArray(own_finished_ns) AS own_finished_ns,
    groupArrayArray(own_aborted_ns) AS own_aborted_ns,
    groupArrayArray(own_costs) AS own_costs,
    groupArrayArray(own_decision_ns) AS own_decision_ns,
    groupArrayArray(own_call_tokens) AS own_call_tokens
FROM ({{counted}})
GROUP BY grp, cluster;

-- name: sums
SELECT
    grp,
    sumForEach(own_counts) AS counts,
    sumForEach(arrayMap(n -> n * n, own_counts)) AS squares,
    sumForEach(arrayMap(n -> n > 0, own_counts)) AS clusters,
    sumForEach(arrayMap((m, y) -> own_counts[m] * own_counts[y], {{bases}}, {{hits}})) AS products,
    sumKahanForEach(arrayMap((m, y) -> own_counts[y] / greatest(own_counts[m], 1), {{own_bases}}, {{own_hits}})) AS own_shares,
    sumKahanForEach(arrayMap((m, y) -> pow(own_counts[y] / greatest(own_counts[m], 1), 2), {{own_bases}}, {{own_hits}})) AS own_squares,
    sumKahanForEach(arrayMap(m -> if(own_counts[m] > 0, 1 / own_counts[m], 0), {{own_bases}})) AS own_inverse,
    sumForEach(own_totals) AS totals,
    countIf(unit_scoped > 0) AS spent_n,
    sumIf(own_cost, unit_scoped > 0) AS spent,
    sumIf(unit_verified, unit_scoped > 0) AS solved,
    ifNotFinite(varPopStableIf(own_cost, unit_scoped > 0), 0) AS spent_variance,
    ifNotFinite(varPopStableIf(unit_verified, unit_scoped > 0), 0) AS solved_variance,
    ifNotFinite(covarPopStableIf(own_cost, unit_verified, unit_scoped > 0), 0) AS covariance
    {{values}}
FROM ({{units}})
GROUP BY grp
ORDER BY grp;

-- name: values
, arraySort(groupArrayArray(own_finished_ns)) AS finished_ns,
arraySort(groupArrayArray(own_aborted_ns)) AS aborted_ns,
arraySort(groupArrayArray(own_costs)) AS costs,
arraySort(groupArrayArray(own_decision_ns)) AS decision_ns,
sum(length(own_call_tokens)) AS calls_with_tokens,
arraySort(groupArrayArray(own_call_tokens))[intDiv(90 * calls_with_tokens + 99, 100)] AS p90_call_tokens;

-- name: data_version
SELECT table, max(max_block_number) AS block, count() AS parts
FROM system.parts
WHERE database = currentDatabase() AND table IN ('runs', 'verdicts') AND active
GROUP BY table
ORDER BY table;

-- name: graders
SELECT
    grp, surface, grader, kind,
    groupUniqArrayArray(grader_versions) AS versions,
    sum(graded_n) AS graded, sum(passed_n) AS passed, sum(scored_n) AS scored,
    sum(abstained_n) AS abstained, sum(failed_n) AS failed,
    sum(not_applicable_n) AS not_applicable, sum(broken_n) AS broken,
    countIf(scored_n > 0) AS clusters,
    sum(toFloat64(scored_n) * scored_n) AS mm, sum(toFloat64(scored_n) * passed_n) AS my,
    sum(toFloat64(passed_n) * passed_n) AS yy,
    sumKahan(passed_n / greatest(scored_n, 1)) AS own_shares,
    sumKahan(pow(passed_n / greatest(scored_n, 1), 2)) AS own_squares,
    sumKahan(if(scored_n > 0, 1 / scored_n, 0)) AS own_inverse
FROM
(
    SELECT
        grp, cluster, surface, grader, kind,
        groupUniqArray(grader_version) AS grader_versions,
        countIf(grader_state = 'graded') AS graded_n,
        countIf(pass >= 0) AS scored_n,
        countIf(pass = 1) AS passed_n,
        countIf(grader_state = 'abstained') AS abstained_n,
        countIf(grader_state = 'failed') AS failed_n,
        countIf(grader_state = 'not_applicable') AS not_applicable_n,
        countIf(has(policies, grader)) AS broken_n
    FROM
    (
        SELECT grp, cluster, graders, grader_versions, states, surfaces, kinds, passes, policies
        FROM ({{judged}})
        WHERE {{scoped}}
    )
    ARRAY JOIN graders AS grader, grader_versions AS grader_version, states AS grader_state, surfaces AS surface,
        kinds AS kind, passes AS pass
    GROUP BY grp, cluster, surface, grader, kind
)
GROUP BY grp, surface, grader, kind
ORDER BY grp, surface, grader, kind;

-- name: others_at_all
SELECT count() AS n
FROM
(
    SELECT 1 FROM verdicts
    WHERE arrayExists(
        (name, version) -> has({names:Array(String)}, name) AND NOT has({present:Array(String)}, concat(name, '\n', version)),
        graders, grader_versions
    )
    LIMIT 1
);

-- name: others
SELECT grp, grader, surface, count() AS runs
FROM
(
    SELECT grp, name AS grader, own AS surface
    FROM (SELECT grp, graders, grader_versions, surfaces FROM ({{judged}}) WHERE {{scoped}})
    ARRAY JOIN graders AS name, grader_versions AS version, surfaces AS own
    WHERE has({names:Array(String)}, name) AND NOT has({present:Array(String)}, concat(name, '\n', version))
)
GROUP BY grp, grader, surface
ORDER BY grp, grader, surface;

-- name: rules
SELECT
    grp, policy, rule, severity,
    count() AS clusters,
    sum(toFloat64(n)) AS runs,
    sum(toFloat64(judged_n) * n) AS my,
    sum(toFloat64(n) * n) AS yy
FROM ({{ruled}})
GROUP BY grp, policy, rule, severity
ORDER BY grp, policy, rule, severity;

-- name: ruled_runs
SELECT grp, said.1 AS policy, said.2 AS rule, said.3 AS severity, 1 AS n, 1 AS judged_n FROM ({{said}});

-- name: ruled_clusters
SELECT grp, policy, one.1 AS rule, one.2 AS severity, one.3 AS n, judged_n
FROM
(
    SELECT grp, cluster, policy, groupArray((rule, severity, n)) AS found, sumIf(n, severity = '') AS judged_n
    FROM
    (
        SELECT grp, cluster, said.1 AS policy, said.2 AS rule, said.3 AS severity, count() AS n
        FROM ({{said}})
        GROUP BY grp, cluster, policy, rule, severity
    )
    GROUP BY grp, cluster, policy
)
ARRAY JOIN found AS one;

-- name: said
-- Of each run every policy that graded it or found a breach in it, without severity; then every rule that it broke.
SELECT grp, cluster, arrayJoin(arrayConcat(judged, broken)) AS said
FROM
(
    SELECT
        grp, cluster,
        arrayFilter((grader, state) -> state = 'graded', graders, states) AS graded,
        arrayMap(policy -> (policy, '', ''), arrayDistinct(arrayConcat(graded, policies))) AS judged,
        arrayDistinct(arrayZip(policies, rules, severities)) AS broken
    FROM (SELECT grp, cluster, graders, states, policies, rules, severities FROM ({{judged}}) WHERE {{scoped}})
);

-- name: behind
SELECT run_id, toUnixTimestamp64Nano(started_at) AS began
FROM ({{judged}})
WHERE ({{part}})
    AND {{position}}
    AND {{common}}
    AND (
        {grader:String} = ''
        OR arrayExists(
            (name, own, pass) -> name = {grader:String} AND multiIf(
                {verdict:String} = 'any', pass >= 0,
                {verdict:String} = 'pass', pass = 1,
                {verdict:String} = 'fail', pass = 0,
                own = {verdict:String}
            ),
            graders, states, passes
        )
    )
    AND (
        {rule:String} = ''
        OR has(policies, {rule:String})
        OR arrayExists((policy, rule) -> concat(policy, '/', rule) = {rule:String}, policies, rules)
    )
ORDER BY began DESC, run_id DESC
{{most}};

-- name: solved_tasks
SELECT DISTINCT task FROM ({{judged}}) WHERE ({{part}}) AND task != '';

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
