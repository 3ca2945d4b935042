-- The representation 'centroid' where rows have weights:
-- SELECT __kanon_weighted_centroid(COLUMNS(* EXCLUDE (w)), w) FROM patients.
-- As __kanon_centroid, but each row counts by its weight, which is above 0; what has no mean is the
-- most frequent value as there. Sums are in the order of the values, and of the weights among equals;
-- weights are taken as shares of the largest, so that equal ones change nothing.
CREATE OR REPLACE TEMP MACRO __kanon_weighed(x, w) AS list_transform(list_transform(
    [list_sort(list_filter(list({'x': x, 'w': w}), lambda __kanon_x: __kanon_x.x IS NOT NULL),
               'ASC', 'NULLS LAST')],
    lambda __kanon_all: {'all': __kanon_all, 'low': __kanon_all[1].x,
        'high': __kanon_all[len(__kanon_all)].x,
        'most': list_max(list_transform(__kanon_all, lambda __kanon_x: __kanon_x.w))}),
    lambda __kanon_all: {'low': __kanon_all.low, 'high': __kanon_all.high,
        'total': list_sum(list_transform(__kanon_all.all, lambda __kanon_x:
            __kanon_x.x * (__kanon_x.w / __kanon_all.most))),
        'part': list_sum(list_transform(__kanon_all.all, lambda __kanon_x:
            __kanon_x.x / 1048576.0 * (__kanon_x.w / __kanon_all.most))),
        'more': list_sum(list_transform(__kanon_all.all, lambda __kanon_x:
            (__kanon_x.x - __kanon_all.low)::DOUBLE * (__kanon_x.w / __kanon_all.most))),
        'weight': list_sum(list_transform(__kanon_all.all, lambda __kanon_x:
            __kanon_x.w / __kanon_all.most))})[1];

CREATE OR REPLACE TEMP MACRO __kanon_weighted_mean(x, w) AS list_transform(
    [__kanon_weighed(list_filter([x], lambda __kanon_x: NOT isnan(__kanon_x))[1], w)],
    lambda __kanon_sum: least(__kanon_sum.high, greatest(__kanon_sum.low,
        CASE WHEN isfinite(__kanon_sum.total) THEN __kanon_sum.total / __kanon_sum.weight
        ELSE __kanon_sum.part / __kanon_sum.weight * 1048576.0 END)) + 0.0)[1];

-- of whole numbers, rounded to the nearest
CREATE OR REPLACE TEMP MACRO __kanon_weighted_whole(x, w) AS list_transform(
    [__kanon_weighed(x::BIGINT, w)],
    lambda __kanon_sum: __kanon_sum.low
        + floor(__kanon_sum.more / __kanon_sum.weight + 0.5)::BIGINT)[1];

CREATE OR REPLACE TEMP MACRO __kanon_weighted_date(x, w) AS
    DATE '1970-01-01' + __kanon_weighted_whole(x - DATE '1970-01-01', w)::INTEGER;

CREATE OR REPLACE TEMP MACRO __kanon_weighted_timestamp(x, w) AS
    make_timestamp(__kanon_weighted_whole(epoch_us(x), w));

CREATE OR REPLACE TEMP MACRO __kanon_weighted_timestamptz(x, w) AS
    make_timestamptz(__kanon_weighted_whole(epoch_us(x), w));

CREATE OR REPLACE TEMP MACRO __kanon_weighted_time(x, w) AS
    __kanon_time(__kanon_weighted_whole(epoch_us(x), w));

CREATE OR REPLACE TEMP MACRO __kanon_weighted_centroid
    (x DOUBLE, w DOUBLE) AS __kanon_weighted_mean(x, w),
    (x DATE, w DOUBLE) AS __kanon_weighted_date(x, w),
    (x TIMESTAMP, w DOUBLE) AS __kanon_weighted_timestamp(x, w),
    (x TIMESTAMPTZ, w DOUBLE) AS __kanon_weighted_timestamptz(x, w),
    (x TIME, w DOUBLE) AS __kanon_weighted_time(x, w),
    (x, w DOUBLE) AS __kanon_most_frequent(x);
