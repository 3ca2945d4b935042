-- k_anonymity('patients', k := 5, quasi_identifiers := ['age', 'zip'])
WITH __kanon_sizes AS (
    SELECT count(*) AS __kanon_size, __kanon_seen(COLUMNS(['age', 'zip'])), __kanon_printed(COLUMNS(['age', 'zip'])) FROM "patients" AS __kanon
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
WHERE CASE
        WHEN EXISTS (SELECT 1 FROM duckdb_columns() WHERE list_contains(CAST(['patients'] AS VARCHAR[]), lower(table_name)) AND regexp_matches(comment, '\bkanon\b|\b(?:kanon|[a-z]kanon|anon|[a-z]anon|aknon|k[a-z]anon|knon|k[a-z]non|knaon|ka[a-z]non|kaon|ka[a-z]on|kaonn|kan[a-z]on|kann|kan[a-z]n|kanno|kano[a-z]n|kano|kano[a-z]|kanon[a-z])\s*:', 'i') AND NOT list_contains(CAST([] AS VARCHAR[]), concat( database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment)) AND NOT list_contains(CAST(['age', 'zip'] AS VARCHAR[]), lower(column_name)))
            THEN __kanon_refuse('OptionError', 'The column comments of "patients" declare roles that are not committed yet. Commit first, or give these columns their roles in the call.')
        ELSE true END
