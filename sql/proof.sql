-- name: call
-- What a file shows of its release, as one row of facts, for kanon_sql.verify('out.parquet').
WITH ${unshadowed},
__kanon_kept AS (SELECT __kanon.* FROM ${relation} AS __kanon),
__kanon_sizes AS (
    SELECT count(*) AS __kanon_size, ${seen} FROM __kanon_kept GROUP BY ALL
),
__kanon_diversity AS (
    SELECT ${alike} FROM (
        SELECT count(*) AS __kanon_size${aggregates}, ${seen} FROM __kanon_kept GROUP BY ALL)
),
__kanon_passing AS (
    SELECT CASE WHEN ${unchanged_columns} > 0
                THEN count(*) FILTER (WHERE __kanon_size = 1) ELSE 0 END AS unique_in_unchanged
    FROM (SELECT count(*) AS __kanon_size, ${seen_passing}
          FROM (SELECT NULL AS __kanon_none${passing} FROM __kanon_kept) GROUP BY ALL)
)
SELECT *, ${unchanged_columns} AS unchanged_columns,
       ${rows} AS rows_in, ${rows_suppressed} AS rows_suppressed
FROM (SELECT coalesce(sum(__kanon_size), 0)::BIGINT AS rows_released,
             count(*) AS classes,
             min(__kanon_size) AS smallest,
             max(__kanon_size) AS largest,
             sum(__kanon_size::HUGEINT * __kanon_size)::DOUBLE AS squares
      FROM __kanon_sizes)
CROSS JOIN __kanon_diversity CROSS JOIN __kanon_passing, __kanon_unshadowed
WHERE __kanon_unshadowed.passed

-- name: class_id
-- Whether the column class_id of a file numbers its classes from 1 on, for kanon_sql.verify.
WITH ${unshadowed},
__kanon_kept AS (SELECT __kanon.* FROM ${relation} AS __kanon),
__kanon_numbers AS (
    SELECT class_id, count(*) AS classes
    FROM (SELECT DISTINCT class_id, ${seen} FROM __kanon_kept) GROUP BY class_id
)
SELECT coalesce(bool_and(classes = 1 AND class_id IS NOT NULL), true)
       AND coalesce(min(class_id) = 1 AND max(class_id) = count(*), true) AS numbers
FROM __kanon_numbers, __kanon_unshadowed WHERE __kanon_unshadowed.passed
