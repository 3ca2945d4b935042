-- The representation 'interval', as text: SELECT __kanon_interval(COLUMNS(*)) FROM patients.
CREATE OR REPLACE TEMP MACRO __kanon_value_set(x) AS
    CASE WHEN min(x) IS NOT DISTINCT FROM max(x) THEN min(x)::VARCHAR
    ELSE '{' || array_to_string(
        list_sort(list(DISTINCT x) FILTER (WHERE x IS NOT NULL))::VARCHAR[], ', ') || '}' END;

CREATE OR REPLACE TEMP MACRO __kanon_range(x) AS
    CASE WHEN min(x) IS NOT DISTINCT FROM max(x) THEN min(x)::VARCHAR
    ELSE '[' || min(x)::VARCHAR || ', ' || max(x)::VARCHAR || ']' END;

CREATE OR REPLACE TEMP MACRO __kanon_interval
    (x VARCHAR) AS __kanon_value_set(x),
    (x BOOLEAN) AS __kanon_value_set(x),
    (x UUID) AS __kanon_value_set(x),
    (x BLOB) AS __kanon_value_set(x),
    (x) AS __kanon_range(__kanon_value(x));
