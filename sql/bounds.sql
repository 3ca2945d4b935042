-- The representation 'bounds', typed: SELECT __kanon_bounds(COLUMNS(*)) FROM patients.
CREATE OR REPLACE TEMP MACRO __kanon_distinct(x) AS
    list_sort(list(DISTINCT x) FILTER (WHERE x IS NOT NULL));

CREATE OR REPLACE TEMP MACRO __kanon_bounds
    (x VARCHAR) AS __kanon_distinct(x),
    (x BOOLEAN) AS __kanon_distinct(x),
    (x UUID) AS __kanon_distinct(x),
    (x BLOB) AS __kanon_distinct(x),
    (x) AS CASE WHEN count(__kanon_value(x)) > 0
        THEN {'min': min(__kanon_value(x)), 'max': max(__kanon_value(x))} END;
