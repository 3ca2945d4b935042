-- name: missing
-- One relation that DuckDB finds nowhere, not even among what is temporary or not yet committed.
WHEN system.main.json_extract_string(system.main.json_serialize_plan(${probe}), '$$.error_type') IN ('catalog', 'io')
        AND coalesce(system.main.json_extract_string(system.main.json_serialize_plan(${probe}), '$$.name'), ${name}) = ${name}
    THEN system.main.error(${sentence})

-- name: nearest_relation
-- The hint that follows the name of a relation that there isn't: the one that DuckDB calls the nearest,
-- if it is near, with the database and the schema that the name had.
CASE WHEN system.main.damerau_levenshtein(system.main.lower(${name}),
                  system.main.lower(system.main.regexp_extract(${other}, '[^.]+$$'))) <= ${near}
             THEN system.main.regexp_replace(system.main.regexp_replace(
                  ${other}, '^([^.]+)$$', ${qualified}), '^(.+)$$', ' Did you mean ''\1''?') END

-- name: candidate
-- The relation that DuckDB calls the nearest to a name that there isn't.
system.main.regexp_extract(system.main.json_extract_string(system.main.json_serialize_plan(${probe}), '$$.candidates'), '^[^,]+')

-- name: no_column
-- The columns that the call names, one of which the relation doesn't have.
WHEN system.main.json_extract_string(system.main.json_serialize_plan(${probe}), '$$.error_subtype') = 'COLUMN_NOT_FOUND'
    THEN system.main.error(CASE system.main.json_extract_string(system.main.json_serialize_plan(${probe}), '$$.name')${told}
            ELSE system.main.json_extract_string(system.main.json_serialize_plan(${probe}), '$$.error_message') END)

-- name: nearest
-- The hint that follows the name of a column that there isn't: the nearest other one, if one is near.
system.main.regexp_replace(system.main.regexp_extract(
                system.main.json_extract_string(system.main.json_serialize_plan(${probe}), '$$.error_message'),
                'Candidate bindings: "([^"]+)"', 1), '^(.+)$$', ' Did you mean ''\1''?')

-- name: with_nothing
-- The relation with columns that the catalog doesn't show: NULL where DuckDB has none of the name, too,
-- so that the query is bound and refuses them itself, by bind_checks.lacking.
(FROM ${relation} UNION ALL BY NAME SELECT ${columns} WHERE false)

-- name: call
-- What runs where only DuckDB knows whether the relations exist: FROM anonymize('nope', k=5).
FROM system.main.query(CASE
${missing}
    ELSE ${text} END)
