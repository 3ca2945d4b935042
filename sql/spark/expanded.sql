-- The values of a column, each as often as rows have it, for kanon_sql.spark.anonymize.
(SELECT ${column} FROM (SELECT ${column}, unnest(range(__kanon_size)) FROM ${rows}))
