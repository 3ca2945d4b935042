-- The same of a column of nearly as many different values, exactly, for kanon_sql.anonymize_files.
SELECT count(value), count(DISTINCT value), min(TRY_CAST(value AS HUGEINT)),
       max(TRY_CAST(value AS HUGEINT))
FROM (SELECT ${column}::VARCHAR AS value FROM ${rows})
