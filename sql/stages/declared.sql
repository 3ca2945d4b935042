-- Whether the roles that the planner saw in column comments are those that the query sees: a part
-- of anonymize('t', k=5).
(SELECT list_sort(coalesce(list(concat(column_name, ' ', comment)), []))
    FROM duckdb_columns()
    WHERE comment LIKE '%kanon:%'
    AND lower(table_name) = lower(${table})
    AND lower(schema_name) = lower(${schema})
    AND lower(database_name) = lower(${database}))
= [${seen}]::VARCHAR[]
