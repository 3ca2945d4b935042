-- The representation 'interval', as text: SELECT __kanon_interval(COLUMNS(*)) FROM patients.
-- decode(encode(x)) is x without its collation: values that only look alike stay apart.
-- Lambdas, so that an aggregate stands once (see centroid.sql).
CREATE OR REPLACE TEMP MACRO __kanon_value_set(x) AS list_transform(
    [list_sort(list_distinct(list(x)), 'ASC', 'NULLS LAST')],
    lambda __kanon_set: CASE len(__kanon_set) WHEN 0 THEN NULL WHEN 1 THEN __kanon_set[1]::VARCHAR
        ELSE '{' || array_to_string(__kanon_set::VARCHAR[], ', ') || '}' END)[1];

CREATE OR REPLACE TEMP MACRO __kanon_range(x) AS list_transform(
    [{'low': min(x), 'high': max(x)}],
    lambda __kanon_ends: CASE
        WHEN __kanon_ends.low IS NOT DISTINCT FROM __kanon_ends.high THEN __kanon_ends.low::VARCHAR
        ELSE '[' || __kanon_ends.low::VARCHAR || ', ' || __kanon_ends.high::VARCHAR || ']' END)[1];

CREATE OR REPLACE TEMP MACRO __kanon_interval
    (x VARCHAR) AS __kanon_value_set(decode(encode(x))),
    (x BOOLEAN) AS __kanon_value_set(x),
    (x) AS CASE WHEN typeof(min(x)) IN ('UUID', 'BLOB') THEN __kanon_value_set(x)
                ELSE __kanon_range(x) END;

-- values without an order, whatever their type
CREATE OR REPLACE TEMP MACRO __kanon_set
    (x VARCHAR) AS __kanon_value_set(decode(encode(x))),
    (x) AS __kanon_value_set(x);
