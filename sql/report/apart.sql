-- How far two texts are from each other, for kanon_sql.report('patients.parquet', show_values=True).
(shown.${column}::VARCHAR IS DISTINCT FROM source.${column}::VARCHAR)::INTEGER
