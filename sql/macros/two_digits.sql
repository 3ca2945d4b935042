-- A number of two significant digits that is no less: SELECT __kanon_two_digits(radius) FROM t.
-- By its text, which names the digits: what they say as a number is the nearest double, and that is
-- no less where the digits are no less. 0.0 and NULL stay.
CREATE OR REPLACE TEMP MACRO __kanon_next_digits(x) AS
    ((replace(split_part(x, 'e', 1), '.', '')::INTEGER + 1)::VARCHAR
        || 'e' || (split_part(x, 'e', 2)::INTEGER - 1)::VARCHAR)::DOUBLE;

CREATE OR REPLACE TEMP MACRO __kanon_two_digits(x) AS
    CASE WHEN format('{:.1e}', x)::DOUBLE >= x THEN format('{:.1e}', x)::DOUBLE
         ELSE __kanon_next_digits(format('{:.1e}', x)) END;
