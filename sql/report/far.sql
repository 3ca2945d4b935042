-- How far two numbers are from each other, for kanon_sql.report('patients.parquet', show_values=True).
coalesce(least(abs(${one} - ${other}) / ${spread}, 1.0), 1.0)
