-- The most rows that are one person's, for kanon_sql.report('visits.parquet', k=5, entity='patient').
SELECT coalesce(max(rows), 1) FROM (SELECT count(*) AS rows FROM ${relation} GROUP BY ${column})
