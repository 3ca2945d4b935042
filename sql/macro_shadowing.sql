-- name: stages
-- The first function of the query that a macro on the search path hides, or NULL: a part of every
-- call. All names are qualified: this must not be fooled itself.
SELECT system.main.min(function_name) AS name
FROM (SELECT function_name, schema_name,
             system.main.lower(function_name) AS called,
             system.main.lower(database_name) AS held,
             system.main.replace(system.main.lower(database_name), '"', '""') AS held_quoted,
             system.main.replace(system.main.lower(schema_name), '"', '""') AS schema_quoted,
             system.main.concat(',', system.main.lower(${path}), ',') AS path
      FROM system.main.duckdb_functions()
      WHERE NOT internal) AS macros
WHERE called IN (${functions})
  AND (held = 'temp'
       OR ((held = system.main.lower(${database})
            OR system.main.contains(path, system.main.concat(',', held, '.'))
            OR system.main.contains(path, system.main.concat(',"', held_quoted, '".')))
           AND (schema_quoted = 'main'
                OR system.main.contains(path, system.main.concat('.', schema_quoted, ','))
                OR system.main.contains(path, system.main.concat('."', schema_quoted, '",')))))

-- name: unshadowed
-- Whether the query means what it says: a part of every call. All names are qualified.
__kanon_unshadowed AS MATERIALIZED (  -- refuses macros and settings that would change what follows
    SELECT CASE
        WHEN coalesce(system.main.current_setting('default_collation'), '') <> ''
            THEN system.main.error(${collated})
        WHEN name IS NOT NULL THEN system.main.error(system.main.format(${shadowed}, name))
        ELSE true END AS passed
    FROM (${shadow})
)
