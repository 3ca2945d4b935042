-- Writes one file of a release, of the rows whose values have hashes in a range, whatever block they
-- come from, for kanon_sql.anonymize_files.
COPY (
    SELECT * EXCLUDE (__kanon_of_values, __kanon_of_all) FROM ${pieces}
    WHERE __kanon_of_values >= ${first}::UBIGINT AND __kanon_of_values <= ${last}::UBIGINT
    ORDER BY __kanon_of_values, __kanon_of_all
) TO ${path} (FORMAT parquet, COMPRESSION zstd, PRESERVE_ORDER true, USE_TMP_FILE false)
