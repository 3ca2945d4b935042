-- name: most_frequent
-- The most frequent value that is not NULL, the smallest of those that tie:
-- SELECT __kanon_most_frequent(job) FROM patients GROUP BY ALL.
-- Counted in a list: of many aggregates histogram(x) DuckDB makes as many joins. Intervals are told
-- apart by their text, since those that compare as equal may differ (1 month and 30 days). Texts
-- stand in the order of their bytes, whatever their collation.
CREATE OR REPLACE TEMP MACRO __kanon_most_frequent(x) AS
    CASE WHEN contains(typeof(min(x)), 'INTERVAL') THEN list_sort(list_transform(
        map_entries(list_aggregate(
            list({'text': encode(x::VARCHAR), 'value': x}) FILTER (WHERE x IS NOT NULL),
            'histogram')),
        lambda e: {'rank': -(e.value::BIGINT), 'value': e.key.value, 'text': e.key.text}
    ), 'ASC', 'NULLS LAST')[1].value
    ELSE list_sort(list_transform(
        map_entries(list_aggregate(list(x), 'histogram')),
        lambda e: {'rank': -(e.value::BIGINT), 'letters': __kanon_letters(e.key), 'value': e.key,
                   'text': encode(e.key::VARCHAR)}
    ), 'ASC', 'NULLS LAST')[1].value END;

-- name: centroid
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

-- total / n, rounded to the nearest integer, halves to the even one, so that no mean of many is
-- biased: the nearest with halves upwards, less one where that is a half and odd
CREATE OR REPLACE TEMP MACRO __kanon_nearest(total, n) AS list_transform(list_transform(
    list_transform([{'twice': 2 * total, 'n': n}], lambda __kanon_x: {'n': 2 * __kanon_x.n,
        'up': __kanon_x.twice + __kanon_x.n,
        'over': ((__kanon_x.twice + __kanon_x.n) % (2 * __kanon_x.n) + 2 * __kanon_x.n)
            % (2 * __kanon_x.n)}),
    lambda __kanon_x: {'over': __kanon_x.over,
        'up': (__kanon_x.up - __kanon_x.over) // __kanon_x.n}),
    lambda __kanon_x: CASE WHEN __kanon_x.over = 0 AND __kanon_x.up % 2 <> 0
        THEN __kanon_x.up - 1 ELSE __kanon_x.up END)[1];

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
    (x TIMESTAMP_S) AS __kanon_mean_timestamp(x::TIMESTAMP),  -- else it is cast to TIMESTAMP_NS,
    (x TIMESTAMP_MS) AS __kanon_mean_timestamp(x::TIMESTAMP),  -- which ends in 2262
    (x TIMESTAMP_NS) AS make_timestamp_ns(__kanon_whole_mean(sum(epoch_ns(x)), count(x))),
    (x TIMESTAMPTZ) AS __kanon_mean_timestamptz(x),
    (x TIME) AS __kanon_mean_time(x),
    (x) AS __kanon_most_frequent(x);

-- name: weighted_centroid
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

-- of whole numbers, rounded to the nearest, halves to the even one
CREATE OR REPLACE TEMP MACRO __kanon_weighted_whole(x, w) AS list_transform(
    [__kanon_weighed(x::BIGINT, w)],
    lambda __kanon_sum: list_transform([{'low': __kanon_sum.low,
            'more': __kanon_sum.more / __kanon_sum.weight}],
        lambda __kanon_x: __kanon_x.low + CASE
            WHEN __kanon_x.more - floor(__kanon_x.more) = 0.5
                AND (__kanon_x.low + floor(__kanon_x.more)::BIGINT) % 2 = 0
            THEN floor(__kanon_x.more)::BIGINT
            ELSE floor(__kanon_x.more + 0.5)::BIGINT END)[1])[1];

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

-- name: rounded
-- The representation 'rounded':
-- SELECT __kanon_rounded(COLUMNS(*), min(COLUMNS(*)), max(COLUMNS(*))) FROM patients.
-- What the centroid is, in the type of the column, which a macro by types gets to see only beside the
-- values that it casts; in lists, since an untyped NULL has no type to cast to. Sums of integers are
-- exact, and their mean is rounded to the nearest integer, halves to the even one; so is that of
-- decimals, to their last digit. A mean of huge numbers, which a double rounds, may lie outside of the
-- type, or of the values: then it is the value at that end.
-- DuckDB 1.5.0 to 1.5.4 know no parameter of a lambda within TRY, so that it is asked beforehand
-- whether a value is within a type, as casts to DECIMAL count. Means of all other types are.
CREATE OR REPLACE TEMP MACRO __kanon_fits(shown, name) AS CASE
    WHEN name = 'BIGINT' THEN TRY_CAST(shown AS BIGINT) IS NOT NULL
    WHEN name = 'UBIGINT' THEN TRY_CAST(shown AS UBIGINT) IS NOT NULL
    WHEN name = 'HUGEINT' THEN TRY_CAST(shown AS HUGEINT) IS NOT NULL
    WHEN name = 'UHUGEINT' THEN TRY_CAST(shown AS UHUGEINT) IS NOT NULL
    WHEN name = 'TIMESTAMP_NS' THEN shown::VARCHAR BETWEEN '1677-09-21 00:13' AND '2262-04-11 23:47'
        OR NOT isfinite(TRY_CAST(shown::VARCHAR AS TIMESTAMP))
    WHEN starts_with(name, 'DECIMAL(') THEN
        floor(abs(TRY_CAST(shown AS DOUBLE)) * ('1e' || split_part(name[:-2], ',', 2))::DOUBLE + 0.5)
        < ('1e' || split_part(name[9:], ',', 1))::DOUBLE
    ELSE true END;

-- a number, rounded to the last digit of a DECIMAL type, halves to the even one
CREATE OR REPLACE TEMP MACRO __kanon_even(shown, name) AS
    round_even(TRY_CAST(shown AS DOUBLE), split_part(name[:-2], ',', 2)::INTEGER);

CREATE OR REPLACE TEMP MACRO __kanon_own_type(shown, low, high) AS list_transform(list_transform(
    [{'shown': shown, 'low': low, 'high': high}],
    lambda __kanon_x: {'low': __kanon_x.low, 'high': __kanon_x.high,
        'own': CASE WHEN __kanon_x.shown IS NULL THEN NULL
            WHEN starts_with(typeof(__kanon_x.low), 'DECIMAL(') AND __kanon_fits(
                __kanon_x.shown, typeof(__kanon_x.low)) THEN cast_to_type([__kanon_even(
                    __kanon_x.shown, typeof(__kanon_x.low))], [__kanon_x.low])[1]
            WHEN __kanon_fits(__kanon_x.shown, typeof(__kanon_x.low))
            THEN cast_to_type([__kanon_x.shown], [__kanon_x.low])[1]
            WHEN starts_with(__kanon_x.shown::VARCHAR, '-') THEN __kanon_x.low
            ELSE __kanon_x.high END}),
    lambda __kanon_x: CASE WHEN __kanon_x.own < __kanon_x.low THEN __kanon_x.low
        WHEN __kanon_x.own > __kanon_x.high THEN __kanon_x.high ELSE __kanon_x.own END)[1];

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

-- name: precise
-- A mean, no finer than the values of its column are: SELECT __kanon_precise(x, x, 10) FROM released
-- of a number with one decimal, of which steps are how many there are in 1; of a time they are how
-- many microseconds one has (see kanon_sql/encode/precision.py). All values of the class lie on steps,
-- so that the nearest step to their mean is within their range. The column stands a second time for
-- its type, which the cast to that of the macro would hide.
CREATE OR REPLACE TEMP MACRO __kanon_steps(precisions, column_name) AS list_transform(
    [{'all': precisions, 'name': column_name}], lambda __kanon_one: list_filter(
        __kanon_one.all, lambda __kanon_x: __kanon_x.name = __kanon_one.name)[1].steps)[1];

-- Far from 1970, steps are those of doubles that stand for the times: a time may lie beside its step as
-- far as the double is rounded, and is told as it is.
CREATE OR REPLACE TEMP MACRO __kanon_nearest_step(microseconds, steps) AS list_transform(list_transform(
    [{'x': microseconds::HUGEINT, 'steps': steps::HUGEINT}],
    lambda __kanon_x: {'x': __kanon_x.x,
        'near': __kanon_nearest(__kanon_x.x, __kanon_x.steps) * __kanon_x.steps}),
    lambda __kanon_x: CASE WHEN abs(__kanon_x.near - __kanon_x.x) <= abs(__kanon_x.x) // 9007199254740992
        THEN __kanon_x.x ELSE __kanon_x.near END::BIGINT)[1];

CREATE OR REPLACE TEMP MACRO __kanon_precise
    (x BIGINT, own, steps) AS own,
    (x UBIGINT, own, steps) AS own,
    (x DATE, own, steps) AS own,
    (x DOUBLE, own, steps) AS list_transform([{'x': x, 'own': own, 'steps': steps}],
        lambda __kanon_x: CASE
            WHEN __kanon_x.steps IS NOT NULL AND typeof(__kanon_x.own) IN ('FLOAT', 'DOUBLE')
            THEN cast_to_type([round_even(__kanon_x.x * __kanon_x.steps, 0) / __kanon_x.steps + 0.0],
                              [__kanon_x.own])[1]
            ELSE __kanon_x.own END)[1],
    (x TIMESTAMP, own, steps) AS list_transform([{'x': x, 'own': own, 'steps': steps}],
        lambda __kanon_x: CASE WHEN __kanon_x.steps IS NULL THEN __kanon_x.own
            ELSE cast_to_type([make_timestamp(__kanon_nearest_step(
                epoch_us(__kanon_x.x), __kanon_x.steps))], [__kanon_x.own])[1] END)[1],
    (x TIMESTAMPTZ, own, steps) AS list_transform([{'x': x, 'steps': steps}],
        lambda __kanon_x: CASE WHEN __kanon_x.steps IS NULL THEN __kanon_x.x
            ELSE cast_to_type([make_timestamptz(__kanon_nearest_step(
                epoch_us(__kanon_x.x), __kanon_x.steps))], [__kanon_x.x])[1] END)[1],
    (x TIME, own, steps) AS list_transform([{'x': x, 'steps': steps}],
        lambda __kanon_x: CASE WHEN __kanon_x.steps IS NULL THEN __kanon_x.x
            ELSE cast_to_type([__kanon_time(__kanon_nearest_step(
                epoch_us(__kanon_x.x), __kanon_x.steps))], [__kanon_x.x])[1] END)[1],
    (x, own, steps) AS own;

-- name: median
-- The representation 'median': SELECT __kanon_median(COLUMNS(*)) FROM patients.
-- Of an even number of values the lower of the middle two: a value of the column's own type.
CREATE OR REPLACE TEMP MACRO __kanon_median
    (x VARCHAR) AS __kanon_most_frequent(x),
    (x BOOLEAN) AS __kanon_most_frequent(x),
    (x) AS CASE WHEN typeof(min(x)) IN ('UUID', 'BLOB') THEN __kanon_most_frequent(x)
                ELSE quantile_disc(x, 0.5) END;

-- name: interval
-- The representation 'interval', as text: SELECT __kanon_interval(COLUMNS(*)) FROM patients.
-- decode(encode(x)) is x without its collation: values that only look alike stay apart.
-- Lambdas, so that an aggregate stands once (see centroid.sql).
CREATE OR REPLACE TEMP MACRO __kanon_value_set(x) AS list_transform(
    [list_sort(list_distinct(list(x)), 'ASC', 'NULLS LAST')],
    lambda __kanon_set: CASE len(__kanon_set) WHEN 0 THEN NULL WHEN 1 THEN __kanon_set[1]::VARCHAR
        ELSE '{' || array_to_string(__kanon_set::VARCHAR[], ', ') || '}' END)[1];

CREATE OR REPLACE TEMP MACRO __kanon_range(x) AS list_transform(
    [{'low': min(x), 'high': max(x)}],
    lambda __kanon_ends: CASE
        WHEN __kanon_ends.low IS NOT DISTINCT FROM __kanon_ends.high THEN __kanon_ends.low::VARCHAR
        ELSE '[' || __kanon_ends.low::VARCHAR || ', ' || __kanon_ends.high::VARCHAR || ']' END)[1];

CREATE OR REPLACE TEMP MACRO __kanon_interval
    (x VARCHAR) AS __kanon_value_set(decode(encode(x))),
    (x BOOLEAN) AS __kanon_value_set(x),
    (x) AS CASE WHEN typeof(min(x)) IN ('UUID', 'BLOB') THEN __kanon_value_set(x)
                ELSE __kanon_range(x) END;

-- values without an order, whatever their type
CREATE OR REPLACE TEMP MACRO __kanon_set
    (x VARCHAR) AS __kanon_value_set(decode(encode(x))),
    (x) AS __kanon_value_set(x);

-- name: bounds
-- The representation 'bounds', typed: SELECT __kanon_bounds(COLUMNS(*)) FROM patients.
-- decode(encode(x)) is x without its collation: values that only look alike stay apart.
CREATE OR REPLACE TEMP MACRO __kanon_distinct(x) AS list_transform(
    [list_sort(list_distinct(list(x)), 'ASC', 'NULLS LAST')],
    lambda __kanon_set: CASE WHEN len(__kanon_set) > 0 THEN __kanon_set END)[1];

CREATE OR REPLACE TEMP MACRO __kanon_bounds
    (x VARCHAR) AS __kanon_distinct(decode(encode(x))),
    (x BOOLEAN) AS __kanon_distinct(x),
    (x) AS list_transform(
        [{'min': min(x), 'max': max(x)}],
        lambda __kanon_ends: CASE WHEN __kanon_ends.min IS NOT NULL THEN __kanon_ends END)[1];

-- values without an order, whatever their type
CREATE OR REPLACE TEMP MACRO __kanon_members
    (x VARCHAR) AS __kanon_distinct(decode(encode(x))),
    (x) AS __kanon_distinct(x);

-- name: suppress
-- The representation 'suppress': SELECT __kanon_suppress(COLUMNS(*)) FROM patients GROUP BY job.
-- encode(x) is x without its collation; NULL is a value, so a class agrees on it or doesn't.
-- A lambda, so that an aggregate stands once (see centroid.sql).
CREATE OR REPLACE TEMP MACRO __kanon_agreed(x, other) AS list_transform(
    [{'low': min(x), 'high': max(x), 'known': count(x), 'all': count(*)}],
    lambda __kanon_ends: CASE
        WHEN __kanon_ends.known = __kanon_ends.all AND __kanon_ends.low = __kanon_ends.high
            THEN __kanon_ends.low
        WHEN __kanon_ends.known = 0 THEN NULL ELSE other END)[1];

CREATE OR REPLACE TEMP MACRO __kanon_suppress
    (x VARCHAR) AS decode(__kanon_agreed(encode(x), encode('*'))),
    (x) AS __kanon_agreed(x, NULL);

-- name: multiset
-- The values of a class with their counts, NULL and NaN among them, as a list of (value, count),
-- ordered by their text: SELECT __kanon_multiset(disease) FROM patients.
-- They are told apart by their text, since values that compare as equal may differ (1 month and
-- 30 days, 0.0 and -0.0). A histogram's own order is that of the setting default_order.
CREATE OR REPLACE TEMP MACRO __kanon_by_text(entries) AS list_select(
    list_transform(entries, lambda e: {'value': e.key.value, 'count': e.value::BIGINT}),
    list_grade_up(list_transform(entries, lambda e: e.key.text), 'ASC', 'NULLS LAST'));

CREATE OR REPLACE TEMP MACRO __kanon_multiset(x) AS __kanon_by_text(
    map_entries(list_aggregate(list_transform(
        list(__kanon_plain(x)),  -- of structs a list takes twice as long to make
        lambda __kanon_x: {'text': encode(__kanon_x::VARCHAR), 'value': __kanon_x}), 'histogram')));

-- name: seen
-- A value as a reader of a release sees it, in two keys:
-- SELECT count(*) FROM (SELECT __kanon_seen(COLUMNS(*)), __kanon_printed(COLUMNS(*)) FROM released GROUP BY ALL).
-- Values that compare as equal may look different: 0.0 and -0.0, 1 month and 30 days, also inside of
-- lists and structs, and texts of a collation. The first key is the value, of text its bytes; the
-- second tells apart what the first doesn't, and is NULL for the types of which nothing of the kind
-- is known: to write a million values as text takes longer than to count them. A number's is its
-- sign, which only 0.0 and NaN leave open.
CREATE OR REPLACE TEMP MACRO __kanon_seen
    (x VARCHAR) AS encode(x),
    (x) AS x;

CREATE OR REPLACE TEMP MACRO __kanon_printed
    (x DOUBLE) AS signbit(x),
    (x VARCHAR) AS NULL::BOOLEAN,
    (x BOOLEAN) AS NULL::BOOLEAN,
    (x DATE) AS NULL::BOOLEAN,
    (x TIME) AS NULL::BOOLEAN,
    (x TIMESTAMP) AS NULL::BOOLEAN,
    (x TIMESTAMPTZ) AS NULL::BOOLEAN,
    (x UUID) AS NULL::BOOLEAN,
    (x BLOB) AS NULL::BOOLEAN,
    (x) AS encode(x::VARCHAR);
