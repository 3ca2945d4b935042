-- The quasi-identifiers of a batch of rows as numbers and categories, and a hash of what each row
-- holds, for kanon_sql.spark.anonymize(df, k=5, quasi_identifiers=['age', 'zip']).
SELECT ${cells}, (hash(row(*COLUMNS(__kanon.*))) >> 1)::BIGINT AS __kanon_mix
FROM ${rows} AS __kanon
