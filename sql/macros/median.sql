-- The representation 'median': SELECT __kanon_median(COLUMNS(*)) FROM patients.
-- Of an even number of values the lower of the middle two: a value of the column's own type.
CREATE OR REPLACE TEMP MACRO __kanon_median
    (x VARCHAR) AS __kanon_most_frequent(x),
    (x BOOLEAN) AS __kanon_most_frequent(x),
    (x) AS CASE WHEN typeof(min(x)) IN ('UUID', 'BLOB') THEN __kanon_most_frequent(x)
                ELSE quantile_disc(x, 0.5) END;
