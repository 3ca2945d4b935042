-- name: report
-- How a report reads what is released: SELECT __kanon_low(age) FROM released. Text is a number, a
-- time, or the range of two, such as '[20, 29]' and '[20, 30)'; all else is NULL.
CREATE OR REPLACE TEMP MACRO __kanon_end(x, place) AS
    coalesce(nullif(regexp_extract(x, '^[\[(](.+), (.+)[\])]$$', place), ''), x);

CREATE OR REPLACE TEMP MACRO __kanon_number(x) AS CASE WHEN isfinite(TRY_CAST(x AS DOUBLE))
    THEN TRY_CAST(x AS DOUBLE) END;

CREATE OR REPLACE TEMP MACRO __kanon_time(x) AS CASE WHEN isfinite(TRY_CAST(x AS TIMESTAMP))
    THEN epoch(TRY_CAST(x AS TIMESTAMP)) END;

CREATE OR REPLACE TEMP MACRO __kanon_set_text(x) AS CASE len(x) WHEN 1 THEN x[1]::VARCHAR
    ELSE '{' || array_to_string(x::VARCHAR[], ', ') || '}' END
