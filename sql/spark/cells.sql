-- The quasi-identifiers of a batch of rows as numbers and categories, and two hashes of each row, of
-- what isn't sensitive and of all, for kanon_sql.spark.anonymize(df, k=5,
-- quasi_identifiers=['age', 'zip']).
SELECT ${cells}, (hash(row(${open})) >> 1)::BIGINT AS __kanon_mix,
       (hash(row(*COLUMNS(__kanon.*))) >> 1)::BIGINT AS __kanon_all
FROM ${rows} AS __kanon
