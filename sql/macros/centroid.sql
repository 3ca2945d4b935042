-- The representation 'centroid': SELECT __kanon_centroid(COLUMNS(*)) FROM patients.
-- Sums must not depend on the order of the rows: doubles are added in the order of their values,
-- and days and microseconds as integers. A mean is kept within the values' range, so that equal
-- values give that value; + 0.0 turns -0.0 into 0.0.
CREATE OR REPLACE TEMP MACRO __kanon_mean_of(sorted) AS
    CASE WHEN isfinite(list_sum(sorted)) THEN list_sum(sorted) / len(sorted)
    ELSE list_sum(list_transform(sorted, lambda v: v / 1048576.0)) / len(sorted) * 1048576.0 END;

CREATE OR REPLACE TEMP MACRO __kanon_mean(x) AS
    least(max(x), greatest(min(x), __kanon_mean_of(
        list_sort(list(x) FILTER (WHERE x IS NOT NULL), 'ASC', 'NULLS LAST')))) + 0.0;

-- total / n, rounded to the nearest integer, halves upwards
CREATE OR REPLACE TEMP MACRO __kanon_rounded(total, n) AS
    ((2 * total + n) - (((2 * total + n) % (2 * n)) + 2 * n) % (2 * n)) // (2 * n);

CREATE OR REPLACE TEMP MACRO __kanon_time(microseconds) AS
    CASE WHEN microseconds = 86400000000 THEN TIME '24:00:00'
    ELSE TIME '00:00:00' + to_microseconds(microseconds) END;

CREATE OR REPLACE TEMP MACRO __kanon_centroid
    (x DOUBLE) AS __kanon_mean(CASE WHEN isnan(x) THEN NULL ELSE x END),
    (x DATE) AS DATE '1970-01-01' + __kanon_rounded(
        sum(x - DATE '1970-01-01')::HUGEINT, count(x)::HUGEINT)::INTEGER,
    (x TIMESTAMP) AS make_timestamp(
        __kanon_rounded(sum(epoch_us(x))::HUGEINT, count(x)::HUGEINT)::BIGINT),
    (x TIMESTAMPTZ) AS make_timestamptz(
        __kanon_rounded(sum(epoch_us(x))::HUGEINT, count(x)::HUGEINT)::BIGINT),
    (x TIME) AS __kanon_time(
        __kanon_rounded(sum(epoch_us(x))::HUGEINT, count(x)::HUGEINT)::BIGINT),
    (x) AS __kanon_most_frequent(x);
