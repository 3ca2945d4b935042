-- How often each sensitive value is in each combination, of what Spark counted, for
-- kanon_sql.spark.anonymize.
SELECT combination, decode(encode(__kanon_key(${column}))) AS label,
           min(__kanon_value(${column})) AS sorted, min((__kanon_cell(${column})).number) AS number,
           sum(size)::BIGINT AS size
    FROM __kanon_counted GROUP BY combination, decode(encode(__kanon_key(${column})))
