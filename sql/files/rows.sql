-- The rows of files that take part, with the columns that a release needs: the first pass of
-- kanon_sql.anonymize_files('lake/*.parquet', 'out/', k=5, quasi_identifiers=['age', 'zip']).
(SELECT ${columns} FROM ${relation} AS __kanon${without_nulls})
