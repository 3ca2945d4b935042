-- A sample of rows in an order of their own, for kanon_sql.spark.anonymize.
SELECT COLUMNS(*) FROM ${rows} ORDER BY ALL
