-- Whether a temporary relation hides the table whose comments declare roles: a part of
-- anonymize('t', k=5).
EXISTS (SELECT 1 FROM duckdb_columns()
    WHERE database_name = 'temp' AND __kanon_caseless(table_name) = ${table})
