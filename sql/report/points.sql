-- A column of numbers, or of times as seconds, from its least to its greatest possible value, row by
-- row: for kanon_sql.report('patients.parquet', k=5).
SELECT ${low} AS low, ${high} AS high FROM ${relation}
