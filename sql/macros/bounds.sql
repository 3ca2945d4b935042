-- The representation 'bounds', typed: SELECT __kanon_bounds(COLUMNS(*)) FROM patients.
-- decode(encode(x)) is x without its collation: values that only look alike stay apart.
CREATE OR REPLACE TEMP MACRO __kanon_distinct(x) AS
    list_sort(list(DISTINCT x) FILTER (WHERE x IS NOT NULL), 'ASC', 'NULLS LAST');

CREATE OR REPLACE TEMP MACRO __kanon_bounds
    (x VARCHAR) AS __kanon_distinct(decode(encode(x))),
    (x BOOLEAN) AS __kanon_distinct(x),
    (x) AS CASE WHEN count(__kanon_value(x)) > 0
        THEN {'min': min(__kanon_value(x)), 'max': max(__kanon_value(x))} END;

-- values without an order, whatever their type
CREATE OR REPLACE TEMP MACRO __kanon_members
    (x VARCHAR) AS __kanon_distinct(decode(encode(x))),
    (x) AS __kanon_distinct(__kanon_value(x));
