-- Writes each row to the folder of the leaf of its person, for kanon_sql.anonymize_files.
COPY (
    SELECT __kanon.*, __kanon_leaf_of.__kanon_leaf
    FROM ${rows} AS __kanon
    LEFT JOIN __kanon_leaf_of ON __kanon.${entity} = __kanon_leaf_of.__kanon_entity
) TO ${folder} (FORMAT parquet, PARTITION_BY (__kanon_leaf), COMPRESSION lz4, WRITE_PARTITION_COLUMNS false)
