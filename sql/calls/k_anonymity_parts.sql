-- The audit of any table in parts, as a whole:
-- FROM k_anonymity('out/**/*.parquet', within=['day'], k=5).
WITH ${sound},
__kanon_sizes AS MATERIALIZED (  -- a combination is one of all columns, those of within among them
    SELECT count(*) AS __kanon_size, row(${keys}) AS __kanon_part, ${seen}
    FROM ${relation} AS __kanon${where} GROUP BY ALL
),
__kanon_parts AS (
    SELECT sum(__kanon_size) AS "rows", min(__kanon_size) AS smallest
    FROM __kanon_sizes GROUP BY __kanon_part
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
       (SELECT count(*) FROM __kanon_parts) AS parts,
       CASE WHEN ${k} IS NOT NULL
           THEN (SELECT count(*) FROM __kanon_parts WHERE smallest < ${k}) END AS parts_below_k,
       (SELECT min("rows")::BIGINT FROM __kanon_parts) AS part_rows_min
FROM __kanon_sizes, __kanon_sound
WHERE __kanon_sound.sound AND CASE
${refusals}        ELSE true END
