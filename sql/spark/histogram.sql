-- How often each sensitive value is in each combination, of what Spark counted, for
-- kanon_sql.spark.anonymize.
SELECT __kanon_combination AS combination, decode(encode(__kanon_key(__kanon_secret))) AS label,
           min(__kanon_value(__kanon_secret)) AS sorted,
           min((__kanon_cell(__kanon_secret)).number) AS number, sum(__kanon_size)::BIGINT AS size
    FROM __kanon_counted GROUP BY __kanon_combination, decode(encode(__kanon_key(__kanon_secret)))
