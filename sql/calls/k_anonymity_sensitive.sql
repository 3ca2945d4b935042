-- The audit of any table, and of its sensitive columns, one row each:
-- FROM k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease'], l=3).
WITH ${sound},
${stages}__kanon_sizes AS (
    SELECT ${part}len(cells) AS __kanon_size FROM __kanon_sets
),
__kanon_found AS (  -- what the worst class has
    ${found}
)
SELECT min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(*) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       ${k}::BIGINT AS k_asked,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < ${k}) END AS classes_below_k,
       CASE WHEN ${k} IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean,
       ${parts}any_value(sensitive) AS sensitive,
       any_value(l_distinct) AS l_distinct,
       any_value(l_entropy) AS l_entropy,
       any_value(c) AS c,
       any_value(t) AS t,
       any_value(alpha) AS alpha,
       any_value(delta) AS delta,
       any_value(beta) AS beta,
       any_value(classes_violating) AS classes_violating,
       any_value(rows_violating) AS rows_violating
FROM __kanon_found CROSS JOIN __kanon_sound LEFT JOIN __kanon_sizes ON true
WHERE __kanon_sound.sound AND CASE
${refusals}        ELSE true END
GROUP BY place
ORDER BY place ASC
