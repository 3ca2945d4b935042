-- Writes the released rows of one block, for kanon_sql.anonymize_files.
COPY (${rows}) TO ${path} (FORMAT parquet, COMPRESSION lz4, ROW_GROUP_SIZE ${group}, PRESERVE_ORDER true, USE_TMP_FILE false)
