-- What rows are cut by that are alike in all quasi-identifiers, for kanon_sql.anonymize_files: a hash
-- of what isn't sensitive and, where that is alike, too, of the place among all such rows. By what is
-- sensitive those are only ordered, so that every side of a cut has about its share of each value.
hash(row(${depth}, hash(row(${open})), row_number() OVER (
    PARTITION BY hash(row(${open})) ORDER BY hash(row(*COLUMNS(__kanon_rows.*)))
)))
