-- The representation 'rounded':
-- SELECT __kanon_rounded(COLUMNS(*), min(COLUMNS(*)), max(COLUMNS(*))) FROM patients.
-- What the centroid is, in the type of the column, which a macro by types gets to see only beside the
-- values that it casts. Sums of integers are exact, and their mean is rounded to the nearest integer,
-- halves upwards. A mean of huge numbers, which a double rounds, may lie outside of the type: then it
-- is the value at that end.
-- DuckDB 1.5.0 to 1.5.4 know no parameter of a lambda within TRY, so that it is asked beforehand
-- whether a value is within a type, as casts to DECIMAL count. Means of all other types are.
CREATE OR REPLACE TEMP MACRO __kanon_fits(shown, name) AS CASE
    WHEN name = 'HUGEINT' THEN TRY_CAST(shown AS HUGEINT) IS NOT NULL
    WHEN name = 'UHUGEINT' THEN TRY_CAST(shown AS UHUGEINT) IS NOT NULL
    WHEN name = 'TIMESTAMP_NS' THEN shown::VARCHAR BETWEEN '1677-09-21 00:13' AND '2262-04-11 23:47'
        OR NOT isfinite(TRY_CAST(shown AS TIMESTAMP))
    WHEN starts_with(name, 'DECIMAL(') THEN
        floor(abs(TRY_CAST(shown AS DOUBLE)) * ('1e' || split_part(name[:-2], ',', 2))::DOUBLE + 0.5)
        < ('1e' || split_part(name[9:], ',', 1))::DOUBLE
    ELSE true END;

CREATE OR REPLACE TEMP MACRO __kanon_own_type(shown, low, high) AS list_transform(
    [{'shown': shown, 'low': low, 'high': high}],
    lambda __kanon_x: CASE WHEN __kanon_x.shown IS NULL THEN NULL
        WHEN __kanon_fits(__kanon_x.shown, typeof(__kanon_x.low))
        THEN cast_to_type(__kanon_x.shown, __kanon_x.low)
        WHEN starts_with(__kanon_x.shown::VARCHAR, '-') THEN __kanon_x.low
        ELSE __kanon_x.high END)[1];

CREATE OR REPLACE TEMP MACRO __kanon_rounded
    (x BIGINT, low, high) AS __kanon_own_type(
        __kanon_nearest(sum(x)::HUGEINT, count(x)::HUGEINT), low, high),
    (x UBIGINT, low, high) AS __kanon_own_type(
        __kanon_nearest(sum(x)::HUGEINT, count(x)::HUGEINT), low, high),
    (x DOUBLE, low, high) AS __kanon_own_type(__kanon_mean(x), low, high),
    (x DATE, low, high) AS __kanon_own_type(__kanon_mean_date(x), low, high),
    (x TIMESTAMP, low, high) AS __kanon_own_type(__kanon_mean_timestamp(x), low, high),
    (x TIMESTAMPTZ, low, high) AS __kanon_own_type(__kanon_mean_timestamptz(x), low, high),
    (x TIME, low, high) AS __kanon_own_type(__kanon_mean_time(x), low, high),
    (x, low, high) AS __kanon_most_frequent(x);

CREATE OR REPLACE TEMP MACRO __kanon_weighted_rounded
    (x DOUBLE, low, high, w DOUBLE) AS __kanon_own_type(__kanon_weighted_mean(x, w), low, high),
    (x DATE, low, high, w DOUBLE) AS __kanon_own_type(__kanon_weighted_date(x, w), low, high),
    (x TIMESTAMP, low, high, w DOUBLE) AS __kanon_own_type(
        __kanon_weighted_timestamp(x, w), low, high),
    (x TIMESTAMPTZ, low, high, w DOUBLE) AS __kanon_own_type(
        __kanon_weighted_timestamptz(x, w), low, high),
    (x TIME, low, high, w DOUBLE) AS __kanon_own_type(__kanon_weighted_time(x, w), low, high),
    (x, low, high, w DOUBLE) AS __kanon_most_frequent(x);
