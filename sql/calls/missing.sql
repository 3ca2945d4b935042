-- One relation that DuckDB finds nowhere. A CTE isn't found this way, so nothing is said unless the
-- query itself has the call and the name, and no CTE in it can be what is meant.
WHEN json_extract_string(json_serialize_plan(${probe}), '$$.error_type') IN ('catalog', 'io')
        AND coalesce(json_extract_string(json_serialize_plan(${probe}), '$$.name'), ${name}) = ${name}
        AND regexp_matches(current_query(), ${call}, 'i')
        AND contains(lower(current_query()), lower(${name}))
        AND NOT (regexp_matches(current_query(), '\bwith\b', 'i')
                 AND len(string_split(lower(current_query()), lower(${name}))) > 2)
    THEN error(${sentence})
