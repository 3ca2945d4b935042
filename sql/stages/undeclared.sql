-- Whether comments declare roles that the planner didn't see, for they are not committed or belong
-- to what is temporary: a part of anonymize('t', k=5).
EXISTS (SELECT 1 FROM duckdb_columns()
    WHERE list_contains(${tables}, __kanon_caseless(table_name))
    AND regexp_matches(comment, ${meant}, 'i')
    AND NOT list_contains(${seen}, concat(
        database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment))
    AND NOT list_contains(${given}, __kanon_caseless(column_name)))
