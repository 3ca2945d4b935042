-- The representation 'centroid': SELECT __kanon_centroid(COLUMNS(*)) FROM patients.
-- Sums must not depend on the order of the rows: doubles are added in the order of their values,
-- and days, microseconds and integers of 32 bits, of which no sum is rounded, as integers. A mean is kept within the values' range, so that equal
-- values give that value; + 0.0 turns -0.0 into 0.0. NaN is a missing value, as NULL is.
-- An aggregate stands once, and a lambda names it: DuckDB hashes an expression that names a column
-- twice as it hashes that of any other column, and so takes quadratic time over many columns.
CREATE OR REPLACE TEMP MACRO __kanon_mean_of(sorted) AS
    least(list_max(sorted), greatest(list_min(sorted),
        CASE WHEN isfinite(list_sum(sorted)) THEN list_sum(sorted) / len(sorted)
        ELSE list_sum(list_transform(sorted, lambda __kanon_x: __kanon_x / 1048576.0))
            / len(sorted) * 1048576.0 END)) + 0.0;

CREATE OR REPLACE TEMP MACRO __kanon_mean(x) AS list_transform(
    [list_filter(list_sort(list(x), 'ASC', 'NULLS LAST'), lambda __kanon_x: NOT isnan(__kanon_x))],
    lambda __kanon_sorted: __kanon_mean_of(__kanon_sorted))[1];

-- total / n, rounded to the nearest integer, halves upwards
CREATE OR REPLACE TEMP MACRO __kanon_nearest(total, n) AS
    ((2 * total + n) - (((2 * total + n) % (2 * n)) + 2 * n) % (2 * n)) // (2 * n);

CREATE OR REPLACE TEMP MACRO __kanon_whole_mean(total, n) AS list_transform(
    [{'total': total::HUGEINT, 'n': n::HUGEINT}],
    lambda __kanon_sum: __kanon_nearest(__kanon_sum.total, __kanon_sum.n)::BIGINT)[1];

CREATE OR REPLACE TEMP MACRO __kanon_time(microseconds) AS list_transform(
    [microseconds],
    lambda __kanon_x: CASE WHEN __kanon_x = 86400000000 THEN TIME '24:00:00'
                      ELSE TIME '00:00:00' + to_microseconds(__kanon_x) END)[1];

CREATE OR REPLACE TEMP MACRO __kanon_mean_date(x) AS DATE '1970-01-01'
    + __kanon_whole_mean(sum(x - DATE '1970-01-01'), count(x))::INTEGER;

CREATE OR REPLACE TEMP MACRO __kanon_mean_timestamp(x) AS
    make_timestamp(__kanon_whole_mean(sum(epoch_us(x)), count(x)));

CREATE OR REPLACE TEMP MACRO __kanon_mean_timestamptz(x) AS
    make_timestamptz(__kanon_whole_mean(sum(epoch_us(x)), count(x)));

CREATE OR REPLACE TEMP MACRO __kanon_mean_time(x) AS
    __kanon_time(__kanon_whole_mean(sum(epoch_us(x)), count(x)));

CREATE OR REPLACE TEMP MACRO __kanon_centroid
    (x INTEGER) AS avg(x),
    (x DOUBLE) AS __kanon_mean(x),
    (x DATE) AS __kanon_mean_date(x),
    (x TIMESTAMP) AS __kanon_mean_timestamp(x),
    (x TIMESTAMPTZ) AS __kanon_mean_timestamptz(x),
    (x TIME) AS __kanon_mean_time(x),
    (x) AS __kanon_most_frequent(x);
