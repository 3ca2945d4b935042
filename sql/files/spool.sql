-- Writes each row to the folder of the leaf that it belongs to, for kanon_sql.anonymize_files.
COPY (
    SELECT __kanon.* EXCLUDE (${places}), ${leaf} AS __kanon_leaf
    FROM (SELECT __kanon_rows.*, ${values}
          FROM ${rows} AS __kanon_rows${joins}) AS __kanon
) TO ${folder} (FORMAT parquet, PARTITION_BY (__kanon_leaf), COMPRESSION lz4, WRITE_PARTITION_COLUMNS false)
