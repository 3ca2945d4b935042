-- The same of a column that may be one of identifiers, exactly, for kanon_sql.anonymize_files.
SELECT coalesce(sum(n), 0)::BIGINT, count(value), coalesce(sum(n) FILTER (WHERE n >= ${least}), 0)::BIGINT,
       min(TRY_CAST(value AS HUGEINT)), max(TRY_CAST(value AS HUGEINT))
FROM (SELECT ${column}::VARCHAR AS value, count(*) AS n FROM ${rows}
      WHERE ${column} IS NOT NULL GROUP BY value)
