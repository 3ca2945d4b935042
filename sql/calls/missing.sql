-- One relation that DuckDB finds nowhere, not even among what is temporary or not yet committed.
WHEN json_extract_string(json_serialize_plan(${probe}), '$$.error_type') IN ('catalog', 'io')
        AND coalesce(json_extract_string(json_serialize_plan(${probe}), '$$.name'), ${name}) = ${name}
    THEN error(${sentence})
