-- A query of the user, and nothing that changes anything, for
-- kanon_sql.report('patients.parquet', k=5, queries={'mean age': 'SELECT avg(age) FROM {table}'}).
SELECT * FROM (
${query}
)
