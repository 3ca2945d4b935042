-- How many combinations of released values don't keep each model, and what the worst of them has,
-- over the values that Spark counted, for kanon_sql.spark.anonymize.
WITH __kanon_counted AS MATERIALIZED (
    SELECT dense_rank() OVER (ORDER BY ${quasi}) AS __kanon_combination,
           ${column} AS __kanon_secret, __kanon_size
    FROM ${rows}
),
__kanon_sizes AS MATERIALIZED (
    SELECT DISTINCT __kanon_combination AS combination FROM __kanon_counted
),
${stages}
__kanon_found AS (
    ${broken}
)
SELECT model::INTEGER AS model, has::DOUBLE AS has, broken::BIGINT AS broken FROM __kanon_found
