-- The audit of any table in which persons have several rows:
-- FROM k_anonymity('visits', quasi_identifiers=['age', 'zip'], entity='patient_id', k=5).
WITH ${sound},
__kanon_sets AS (  -- whose the rows of each combination are; encoded: without collation
    SELECT row_number() OVER () AS combination, whose
    FROM (SELECT list(decode(encode(__kanon_key(${entity})))) AS whose, ${seen}
          FROM ${relation} AS __kanon${where} GROUP BY ALL)
),
${crowds}
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
       ${persons}
FROM __kanon_persons CROSS JOIN __kanon_sound LEFT JOIN __kanon_sizes ON true
WHERE __kanon_sound.sound AND CASE
${refusals}        WHEN nobody > 0
            THEN __kanon_refuse('DataError', ${nobody})
        ELSE true END
