-- The representation 'interval', as text: SELECT __kanon_interval(COLUMNS(*)) FROM patients.
-- decode(encode(x)) is x without its collation: values that only look alike stay apart.
CREATE OR REPLACE TEMP MACRO __kanon_value_set(x) AS
    CASE WHEN min(x) IS NOT DISTINCT FROM max(x) THEN min(x)::VARCHAR
    ELSE '{' || array_to_string(list_sort(
        list(DISTINCT x) FILTER (WHERE x IS NOT NULL), 'ASC', 'NULLS LAST')::VARCHAR[], ', ') || '}'
    END;

CREATE OR REPLACE TEMP MACRO __kanon_range(x) AS
    CASE WHEN min(x) IS NOT DISTINCT FROM max(x) THEN min(x)::VARCHAR
    ELSE '[' || min(x)::VARCHAR || ', ' || max(x)::VARCHAR || ']' END;

CREATE OR REPLACE TEMP MACRO __kanon_interval
    (x VARCHAR) AS __kanon_value_set(decode(encode(x))),
    (x BOOLEAN) AS __kanon_value_set(x),
    (x) AS CASE WHEN typeof(min(x)) IN ('UUID', 'BLOB') THEN __kanon_value_set(x)
                ELSE __kanon_range(__kanon_value(x)) END;

-- values without an order, whatever their type
CREATE OR REPLACE TEMP MACRO __kanon_set
    (x VARCHAR) AS __kanon_value_set(decode(encode(x))),
    (x) AS __kanon_value_set(__kanon_value(x));
