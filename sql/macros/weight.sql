-- For how many people a row stands: SELECT __kanon_total(w) FROM patients GROUP BY zip.
-- Doubles are added in the order of their values, so that the order of the rows means nothing.
-- What is no number above 0 is left out, and refused elsewhere (__kanon_weighs).
CREATE OR REPLACE TEMP MACRO __kanon_weight(x) AS list_filter(
    [TRY_CAST(x::VARCHAR AS DOUBLE)],
    lambda __kanon_x: isfinite(__kanon_x) AND __kanon_x > 0)[1];

CREATE OR REPLACE TEMP MACRO __kanon_added(x) AS list_sum(list_sort(list(x), 'ASC', 'NULLS LAST'));

CREATE OR REPLACE TEMP MACRO __kanon_total(x) AS __kanon_added(__kanon_weight(x));

-- whether it is a number above 0
CREATE OR REPLACE TEMP MACRO __kanon_weighs(x) AS
    (typeof(x) IN ('FLOAT', 'DOUBLE') OR starts_with(typeof(x), 'DECIMAL')
     OR __kanon_is_integer(typeof(x)))
    AND __kanon_weight(x) IS NOT NULL;
