-- name: missing
-- One relation that DuckDB finds nowhere, not even among what is temporary or not yet committed.
WHEN system.main.json_extract_string(system.main.json_serialize_plan(${probe}), '$$.error_type') IN ('catalog', 'io')
        AND coalesce(system.main.json_extract_string(system.main.json_serialize_plan(${probe}), '$$.name'), ${name}) = ${name}
    THEN system.main.error(${sentence})

-- name: call
-- What runs where only DuckDB knows whether the relations exist: FROM anonymize('nope', k=5).
FROM system.main.query(CASE
${missing}
    ELSE ${text} END)
