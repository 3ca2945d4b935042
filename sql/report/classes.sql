-- How many classes of each size a table has, for kanon_sql.report('patients.parquet', k=5).
SELECT size, count(*) AS classes
FROM (SELECT count(*) AS size, ${seen} FROM ${relation} GROUP BY ALL)
GROUP BY size ORDER BY size ASC
