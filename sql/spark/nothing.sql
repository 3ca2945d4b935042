-- One row of NULLs of some types, from which Arrow tells how it writes them, for
-- kanon_sql.spark.anonymize.
SELECT ${columns}
