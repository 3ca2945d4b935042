-- The representation 'centroid': SELECT __kanon_centroid(COLUMNS(*)) FROM patients.
-- Sums must not depend on the order of the rows: doubles are added in the order of their values,
-- and days and microseconds as integers. A mean is kept within the values' range, so that equal
-- values give that value.
CREATE OR REPLACE TEMP MACRO __kanon_mean(x) AS
    least(max(x), greatest(min(x), list_sum(list_sort(list(x))) / count(x)));

-- total / n, rounded to the nearest integer, halves upwards
CREATE OR REPLACE TEMP MACRO __kanon_rounded(total, n) AS
    ((2 * total + n) - (((2 * total + n) % (2 * n)) + 2 * n) % (2 * n)) // (2 * n);

CREATE OR REPLACE TEMP MACRO __kanon_centroid
    (x DOUBLE) AS __kanon_mean(CASE WHEN isnan(x) THEN NULL ELSE x END),
    (x DATE) AS DATE '1970-01-01' + __kanon_rounded(
        sum(x - DATE '1970-01-01')::HUGEINT, count(x)::HUGEINT)::INTEGER,
    (x TIMESTAMP) AS make_timestamp(
        __kanon_rounded(sum(epoch_us(x))::HUGEINT, count(x)::HUGEINT)::BIGINT),
    (x TIMESTAMPTZ) AS make_timestamptz(
        __kanon_rounded(sum(epoch_us(x))::HUGEINT, count(x)::HUGEINT)::BIGINT),
    (x TIME) AS TIME '00:00' + to_microseconds(
        __kanon_rounded(sum(epoch_us(x))::HUGEINT, count(x)::HUGEINT)::BIGINT),
    (x) AS __kanon_most_frequent(x);
