-- A column of anything as text, row by row, as the release of 'interval' writes it: for
-- kanon_sql.report('patients.parquet', k=5).
SELECT ${text} AS label FROM ${relation}
