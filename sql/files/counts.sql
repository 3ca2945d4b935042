-- How many rows have each category, for kanon_sql.anonymize_files.
SELECT category, count(*) AS size FROM (SELECT ${category} AS category FROM ${rows}) GROUP BY ALL
