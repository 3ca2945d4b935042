-- For how many people a row stands: SELECT __kanon_total(w) FROM patients GROUP BY zip.
-- Doubles are added in the order of their values, so that the order of the rows means nothing.
CREATE OR REPLACE TEMP MACRO __kanon_weight(x) AS TRY_CAST(x::VARCHAR AS DOUBLE);

CREATE OR REPLACE TEMP MACRO __kanon_added(x) AS list_sum(list_sort(list(x), 'ASC', 'NULLS LAST'));

CREATE OR REPLACE TEMP MACRO __kanon_total(x) AS __kanon_added(__kanon_weight(x));

-- whether it is a number above 0
CREATE OR REPLACE TEMP MACRO __kanon_weighs(x) AS
    (typeof(x) IN ('FLOAT', 'DOUBLE') OR starts_with(typeof(x), 'DECIMAL')
     OR __kanon_is_integer(typeof(x)))
    AND coalesce(isfinite(__kanon_weight(x)) AND __kanon_weight(x) > 0, false);
