-- The audit of any table, one row for each part:
-- FROM k_anonymity('out/**/*.parquet', within=['day'], by_part=true, k=5).
WITH ${sound},
__kanon_sizes AS MATERIALIZED (
    SELECT count(*) AS __kanon_size, ${values}, row(${keys}) AS __kanon_part, ${seen}
    FROM ${relation} AS __kanon${where} GROUP BY ALL
)
SELECT ${within},
       min(__kanon_size) AS k,
       sum(__kanon_size)::BIGINT AS "rows",
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
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean
FROM __kanon_sizes, __kanon_sound
WHERE __kanon_sound.sound AND CASE
${refusals}        ELSE true END
GROUP BY __kanon_part
ORDER BY ${order}
