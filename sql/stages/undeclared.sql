-- Whether comments declare roles that the planner didn't see, for they are not committed or belong
-- to what is temporary: a part of anonymize('t', k=5).
EXISTS (SELECT 1 FROM duckdb_columns()
    WHERE lower(table_name) IN ${tables}
    AND regexp_matches(comment, ${meant}, 'i')
    AND concat(database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment)
        NOT IN ${seen}
    AND lower(column_name) NOT IN ${given})
