-- How many values a column that nobody named has, and about how many different ones, for
-- kanon_sql.anonymize_files.
{'values': count(${column}), 'about': approx_count_distinct(${column})}
