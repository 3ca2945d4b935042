-- k_anonymity('patients', k := 5, quasi_identifiers := ['age', 'zip'])
WITH __kanon_sizes AS (
    SELECT count(*) AS __kanon_size, COLUMNS(['age', 'zip']) FROM "patients" AS __kanon
    WHERE __kanon_has("age") AND __kanon_has("zip") GROUP BY ALL
)
SELECT min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(*) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       5::BIGINT AS k_asked,
       CASE WHEN 5 IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < 5) END AS classes_below_k,
       CASE WHEN 5 IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < 5), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean
FROM __kanon_sizes
WHERE (SELECT list_sort(coalesce(list(concat(column_name, ' ', comment)), [])) FROM duckdb_columns() WHERE comment LIKE '%kanon:%' AND lower(table_name) = lower('patients') AND lower(schema_name) = lower(current_schema()) AND lower(database_name) = lower(current_database())) = []::VARCHAR[] OR __kanon_refuse('OptionError', 'The column comments of "patients" declare roles that are not committed yet. Commit first, or give the roles in the call.')
