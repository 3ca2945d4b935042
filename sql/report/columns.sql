-- The columns of a table that a report looks at, for kanon_sql.report('patients.parquet', k=5).
SELECT ${columns} FROM ${relation}
