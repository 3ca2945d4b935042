-- kanon_sql's audit in plain SQL. It runs in DuckDB 1.4 and later, without Python.
--
--     .read kanon_audit.sql
--     FROM k_anonymity('release.parquet', ['age', 'zip'], k := 5);
--     FROM privacy_models('release.parquet', ['age', 'zip'], 'disease');
--     FROM k_map('release.parquet', 'census', ['age', 'zip']);
--     FROM verify_release('release.parquet');
--
-- A relation is a string: the name of a table or view, or the path of a file.
-- The macros are temporary: they write nothing to the database.
-- Don't read this file where kanon_sql is registered, which has its own k_anonymity.
--
-- Generated from the SQL of kanon_sql 0.1.0. Don't edit it.

-- a name as it is compared (see kanon_sql/names.py): lower() would fold letters that DuckDB doesn't
CREATE OR REPLACE TEMP MACRO __kanon_caseless(name) AS
    translate(name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

CREATE OR REPLACE TEMP MACRO __kanon_zero(x) AS cast_to_type('[0.0]', [x])[1];

-- NaN is a missing value, as NULL is, and -0.0 is 0.0
CREATE OR REPLACE TEMP MACRO __kanon_value(x) AS
    CASE WHEN typeof(x) IN ('FLOAT', 'DOUBLE') THEN
        CASE WHEN x::VARCHAR LIKE '%nan' THEN NULL
             WHEN x::VARCHAR = '-0.0' THEN __kanon_zero(x)
             ELSE x END
    ELSE x END;

CREATE OR REPLACE TEMP MACRO __kanon_microseconds(x) AS list_transform([x], lambda __kanon_x:
    CASE WHEN isinf(__kanon_x) THEN 'inf'::DOUBLE ELSE epoch_us(__kanon_x)::DOUBLE END)[1];

-- one cell of the encoding: a number for what has an order, else a category, without a collation. The
-- column stands once, and a lambda names it, for the reason that is told in centroid.sql
CREATE OR REPLACE TEMP MACRO __kanon_cell
    (x DOUBLE) AS {
        'number': list_filter([x], lambda __kanon_x: NOT isnan(__kanon_x))[1],
        'category': NULL::VARCHAR},
    (x DATE) AS {
        'number': list_transform([x], lambda __kanon_x: CASE WHEN isinf(__kanon_x) THEN 'inf'::DOUBLE
            ELSE (__kanon_x - DATE '1970-01-01')::DOUBLE END)[1],
        'category': NULL::VARCHAR},
    (x TIMESTAMP) AS {'number': __kanon_microseconds(x), 'category': NULL::VARCHAR},
    (x TIMESTAMPTZ) AS {'number': __kanon_microseconds(x), 'category': NULL::VARCHAR},
    (x TIME) AS {'number': epoch_us(x)::DOUBLE, 'category': NULL::VARCHAR},
    -- of no use, and refused by its type: as a number, DuckDB's error would show a value
    (x VARIANT) AS {'number': NULL::DOUBLE, 'category': NULL::VARCHAR},
    (x) AS {'number': NULL::DOUBLE, 'category': decode(encode(x::VARCHAR))};

CREATE OR REPLACE TEMP MACRO __kanon_key(x) AS decode(encode(
    CASE WHEN typeof(x) IN ('FLOAT', 'DOUBLE') OR starts_with(typeof(x), 'DECIMAL')
        THEN regexp_replace(
            CASE WHEN x::VARCHAR LIKE '%nan' THEN NULL
                 WHEN x::VARCHAR = '-0.0' THEN '0' ELSE x::VARCHAR END, '\.0+$$', '')
    ELSE x::VARCHAR END));

CREATE OR REPLACE TEMP MACRO __kanon_added(x) AS list_sum(list_sort(list(x), 'ASC', 'NULLS LAST'));

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
    (x) AS encode(x::VARCHAR);;

CREATE OR REPLACE TEMP MACRO __kanon_text
    (x TIMESTAMPTZ) AS CASE WHEN isinf(x) THEN x::VARCHAR
                            ELSE make_timestamp(epoch_us(x))::VARCHAR || '+00' END,
    (x TIMESTAMP) AS x::VARCHAR,
    (x TIMESTAMP_S) AS x::VARCHAR,
    (x TIMESTAMP_MS) AS x::VARCHAR,
    (x TIMESTAMP_NS) AS x::VARCHAR,
    (x DATE) AS x::VARCHAR,
    (x VARCHAR) AS decode(encode(x)),
    (x) AS x::VARCHAR;

-- a type without the values that an ENUM may have, which a release need not have: it is a text
CREATE OR REPLACE TEMP MACRO __kanon_type(x) AS
    regexp_replace(typeof(x), 'ENUM\(''([^'']|'''')*''(, ''([^'']|'''')*'')*\)', 'VARCHAR', 'g');

CREATE OR REPLACE TEMP MACRO k_anonymity(relation, quasi_identifiers, k := NULL) AS TABLE
WITH __kanon_sizes AS (
    SELECT count(*) AS __kanon_size, __kanon_seen(COLUMNS(quasi_identifiers)), __kanon_printed(COLUMNS(quasi_identifiers)) FROM query_table(relation) AS __kanon GROUP BY ALL
)
SELECT min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(__kanon_size) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       k::BIGINT AS k_requested,
       CASE WHEN k IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < k) END AS classes_below_k,
       CASE WHEN k IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < k), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS prosecutor_risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS prosecutor_risk_mean
FROM __kanon_sizes
WHERE CASE WHEN NOT ends_with(typeof(quasi_identifiers), '[]')
    THEN error('quasi_identifiers is not a list of columns. Write it as [''age'', ''zip''].')
    ELSE true END;

CREATE OR REPLACE TEMP MACRO privacy_models(relation, quasi_identifiers, sensitive) AS TABLE
WITH __kanon_sets AS MATERIALIZED (
    SELECT row_number() OVER () AS combination, __kanon_values_0
    FROM (SELECT list("__kanon_sensitive") AS __kanon_values_0, __kanon_seen(COLUMNS(quasi_identifiers)), __kanon_printed(COLUMNS(quasi_identifiers))
          FROM (SELECT COLUMNS(quasi_identifiers), COLUMNS([sensitive]) AS __kanon_sensitive FROM query_table(relation)) AS __kanon GROUP BY ALL)
),
__kanon_histogram_0 AS MATERIALIZED (  -- rows of each value in each combination
    SELECT combination, decode(encode(__kanon_key(own))) AS label, count(*) AS size
    FROM (SELECT combination, unnest(__kanon_values_0) AS own FROM __kanon_sets)
    GROUP BY combination, decode(encode(__kanon_key(own)))
),
__kanon_domain_0 AS MATERIALIZED (  -- the values of all rows in their order, a missing one last
    SELECT label, sum(size)::BIGINT AS many, any_value(number) AS number,
           row_number() OVER (ORDER BY label IS NULL ASC, min(sorted) ASC NULLS LAST,
                                       encode(label) ASC NULLS LAST) - 1 AS place
    FROM (SELECT decode(encode(__kanon_key(own))) AS label, __kanon_value(own) AS sorted,
          (__kanon_cell(own)).number AS number, 1 AS size
    FROM (SELECT unnest(__kanon_values_0) AS own FROM __kanon_sets)) GROUP BY label
),
__kanon_whole_0 AS MATERIALIZED (  -- all rows
    SELECT coalesce(sum(many), 0)::BIGINT AS many, count(label) AS different,
           coalesce(sum(many) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing,
           count(number) > 0 AS ordered
    FROM __kanon_domain_0
),
__kanon_spread_0 AS MATERIALIZED (  -- the rows of each combination
    SELECT combination, sum(size)::BIGINT AS size, count(label) AS different,
           coalesce(sum(size) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing
    FROM __kanon_histogram_0 GROUP BY combination
),
__kanon_placed_0 AS (  -- rows of each value in each combination, and among all rows
    SELECT combination, __kanon_domain_0.label, place, size, many
    FROM __kanon_histogram_0 JOIN __kanon_domain_0
        ON __kanon_histogram_0.label IS NOT DISTINCT FROM __kanon_domain_0.label
),
__kanon_ranked_0 AS MATERIALIZED (  -- missing values may count for the most frequent
    SELECT combination, size, list_concat(counts[:len(counts) - 1], [counts[len(counts)] + missing]) AS counts
    FROM (SELECT combination, sum(size)::BIGINT AS size,
                 coalesce(sum(size) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing,
                 list_sort(list(size) FILTER (WHERE label IS NOT NULL), 'ASC', 'NULLS FIRST') AS counts
          FROM __kanon_histogram_0 GROUP BY combination)
),
__kanon_line_3 AS MATERIALIZED (  -- of each value: rows with it or a lower one, and sums of these
    SELECT place, whole, upto, position, gap,
           coalesce(system.main.sum(upto) OVER lower, 0) AS area,
           coalesce(system.main.sum(upto::DOUBLE / whole * gap) OVER lower, 0) AS moment
    FROM (SELECT place, position, upto::HUGEINT AS upto, whole::HUGEINT AS whole,
                 coalesce(system.main.min(position) OVER (
                     ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING), position)
                     - position AS gap
          FROM (SELECT place, 0 AS position, system.main.sum(many) OVER () AS whole,
                       system.main.sum(many) OVER (ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS upto
                FROM __kanon_domain_0 WHERE label IS NOT NULL AND (SELECT ordered FROM __kanon_whole_0)))
    WINDOW lower AS (ORDER BY place ASC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
__kanon_own_3 AS (  -- of each value of a combination: its rows with it or a lower one
    SELECT combination, place, position, area, moment, whole,
           seen::HUGEINT AS seen, total::HUGEINT AS total,
           coalesce(system.main.min(place) OVER next, last_place) AS next_place,
           coalesce(system.main.min(position) OVER next, last_position) AS next_position,
           coalesce(system.main.min(area) OVER next, last_area) AS next_area,
           coalesce(system.main.min(moment) OVER next, last_moment) AS next_moment
    FROM (SELECT *, system.main.sum(size) OVER (PARTITION BY combination) AS total,
                 system.main.sum(size) OVER (
                     PARTITION BY combination ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS seen
          FROM (SELECT combination, place, size FROM __kanon_placed_0 WHERE label IS NOT NULL AND (SELECT ordered FROM __kanon_whole_0))
          JOIN __kanon_line_3 USING (place))
    CROSS JOIN (SELECT max(place) AS last_place, max(position) AS last_position,
                       max(area) AS last_area, max(moment) AS last_moment
                FROM __kanon_line_3)
    WINDOW next AS (
        PARTITION BY combination ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)
),
__kanon_parted_3 AS (  -- where the share of all rows passes that of the combination
    SELECT own.* EXCLUDE (whole), seen * own.whole AS level,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.place
                WHEN line.place >= next_place THEN next_place ELSE line.place + 1 END AS x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.position
                WHEN line.place >= next_place THEN next_position
                ELSE line.position + line.gap END AS position_x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.area
                WHEN line.place >= next_place THEN next_area ELSE line.area + line.upto END AS area_x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.moment
                WHEN line.place >= next_place THEN next_moment
                ELSE line.moment + line.upto::DOUBLE / line.whole * line.gap END AS moment_x
    FROM __kanon_own_3 AS own
    ASOF LEFT JOIN __kanon_line_3 AS line ON seen * own.whole // total >= line.upto
),
__kanon_moved_3 AS MATERIALIZED (  -- ranks: times total times whole; gaps: as a share
    SELECT combination,
           any_value(total) * min(area) + sum(
               level * (x - place) - total * (area_x - area)
               + total * (next_area - area_x) - level * (next_place - x)) AS ranks,
           min(moment) + sum(
               seen::DOUBLE / total * (position_x - position) - (moment_x - moment)
               + (next_moment - moment_x) - seen::DOUBLE / total * (next_position - position_x)
               ORDER BY place ASC) AS gaps
    FROM __kanon_parted_3 GROUP BY combination
),
__kanon_held_0 AS MATERIALIZED (  -- all of it at once
    SELECT combination, size, any_value(missing) AS missing, any_value(whole) AS whole,
           sum(greatest(0, rows_of::HUGEINT * whole - size::HUGEINT * rows_of_all)) AS above_3,
           bool_and(NULL::BOOLEAN) FILTER (WHERE label IS NOT NULL) AS fits_4,
           max(CASE WHEN 1000000 IS NOT NULL THEN rows_of + missing END) FILTER (WHERE label IS NOT NULL) AS most_4,
           count(*) AS found_5,
           max(abs(system.main.ln(own / overall))) AS farthest_5,
           bool_and(NULL::BOOLEAN) AS fits_5,
           max((rows_of::HUGEINT * whole - rows_of_all::HUGEINT * size)::DOUBLE
               / (rows_of_all::HUGEINT * size)::DOUBLE) AS gain_6,
           bool_and(NULL::BOOLEAN) AS fits_6
    FROM (SELECT combination, label, size, missing, rows_of, rows_of_all, whole,
                 rows_of::DOUBLE / size AS own, rows_of_all::DOUBLE / whole AS overall
          FROM (SELECT combination, label, size AS rows_of, many AS rows_of_all
                FROM __kanon_placed_0)
          JOIN (SELECT combination, size, missing FROM __kanon_spread_0) USING (combination)
          CROSS JOIN (SELECT many AS whole FROM __kanon_whole_0))
    GROUP BY combination, size
),
__kanon_model_0 AS NOT MATERIALIZED (
    SELECT combination, size, found >= 2 AS passes, found::DOUBLE AS has
    FROM (SELECT combination, size, different AS found FROM __kanon_spread_0)
),
__kanon_model_1 AS NOT MATERIALIZED (
    SELECT combination, size,
           coalesce((even AND different >= 2.0) OR entropy >= system.main.ln(2.0::DOUBLE) + 1e-12, false)
               AS passes,
           coalesce(CASE WHEN even THEN different ELSE system.main.exp(entropy) END, 0)::DOUBLE AS has
    FROM (SELECT combination, size, len(counts) AS different, counts[1] = counts[len(counts)] AS even,
                 system.main.ln(list_sum(counts)::DOUBLE) - list_sum(list_transform(
                     counts, lambda own: own * system.main.ln(own::DOUBLE))) / list_sum(counts) AS entropy
          FROM __kanon_ranked_0)
),
__kanon_model_2 AS NOT MATERIALIZED (
    SELECT combination, size, coalesce(top * 1::HUGEINT < 1::HUGEINT * tail, false) AS passes,
           CASE WHEN tail > 0 THEN top::DOUBLE / tail::DOUBLE ELSE 'inf'::DOUBLE END AS has
    FROM (SELECT combination, size, counts[len(counts)]::HUGEINT AS top,
                 coalesce(list_sum(counts[:greatest(len(counts) - 2 + 1, 0)]), 0)::HUGEINT AS tail
          FROM __kanon_ranked_0)
),
__kanon_model_3 AS NOT MATERIALIZED (
    SELECT combination, size, passes, has FROM (
    SELECT combination, size,
           CASE WHEN absent = 0 AND steps > 0 THEN coalesce(ranks * 1::HUGEINT <= 1::HUGEINT * steps * size * whole, false)
                WHEN steps <= 0 AND absent = 0 THEN true
                ELSE away <= 1.0::DOUBLE - 1e-12 END AS passes,
           CASE WHEN absent = 0 AND steps > 0 AND steps > 0
                THEN ranks::DOUBLE / (steps::DOUBLE * size * whole) ELSE away END AS has
    FROM (SELECT *, abs(missing / size - absent / whole) + least(
                     1 - missing / size, 1 - absent / whole) * coalesce(CASE WHEN steps > 0 THEN ranks::DOUBLE / (steps::DOUBLE * (size - missing) * (whole - absent)) END, 0) AS away
          FROM (SELECT combination, size::HUGEINT AS size, missing::DOUBLE AS missing
                FROM __kanon_spread_0)
          CROSS JOIN (SELECT many::HUGEINT AS whole, different - 1 AS steps,
                             missing::DOUBLE AS absent
                      FROM __kanon_whole_0)
          LEFT JOIN __kanon_moved_3 USING (combination))
    ) WHERE (SELECT ordered FROM __kanon_whole_0)
    UNION ALL
    SELECT combination, size, passes, has FROM (
    SELECT combination, size::HUGEINT AS size, above_3 * 1::HUGEINT <= 1::HUGEINT * size::HUGEINT * whole AS passes,
           above_3::DOUBLE / (size::DOUBLE * whole) AS has
    FROM __kanon_held_0
    ) WHERE NOT (SELECT ordered FROM __kanon_whole_0)
),
__kanon_model_4 AS NOT MATERIALIZED (
    SELECT combination, size,
           coalesce(fits_4, true) AND missing * 1000000::HUGEINT <= size * 1000000 AS passes,
           greatest(coalesce(most_4, 0), missing)::DOUBLE / size AS has
    FROM __kanon_held_0
),
__kanon_model_5 AS NOT MATERIALIZED (
    SELECT combination, size,
           found_5 = different AND fits_5 AS passes,
           CASE WHEN found_5 = different THEN farthest_5 ELSE 'inf'::DOUBLE END AS has
    FROM __kanon_held_0
    CROSS JOIN (SELECT count(*) AS different FROM __kanon_domain_0)
),
__kanon_model_6 AS NOT MATERIALIZED (
    SELECT combination, size, fits_6 AS passes, gain_6 AS has FROM __kanon_held_0
)
SELECT sensitive::VARCHAR AS sensitive,
       (SELECT system.main.min(has) FROM __kanon_model_0)::BIGINT AS l_distinct, (SELECT system.main.min(has) FROM __kanon_model_1) AS l_entropy,
           (SELECT system.main.max(has) FROM __kanon_model_2) AS c, (SELECT system.main.max(has) FROM __kanon_model_3) AS t, (SELECT system.main.max(has) FROM __kanon_model_4) AS alpha,
           (SELECT system.main.max(has) FROM __kanon_model_5) AS delta, (SELECT system.main.max(has) FROM __kanon_model_6) AS beta
WHERE CASE WHEN NOT ends_with(typeof(quasi_identifiers), '[]')
    THEN error('quasi_identifiers is not a list of columns. Write it as [''age'', ''zip''].')
    ELSE true END;

CREATE OR REPLACE TEMP MACRO k_map(relation, population, quasi_identifiers, k := NULL) AS TABLE
WITH __kanon_sizes AS (
    SELECT count(*) AS __kanon_size, __kanon_seen(COLUMNS(quasi_identifiers)), __kanon_printed(COLUMNS(quasi_identifiers)) FROM query_table(relation) AS __kanon GROUP BY ALL
),
__kanon_kept AS (
    SELECT {'name': __kanon_caseless(alias(COLUMNS(quasi_identifiers))),
            'key': __kanon_key(COLUMNS(quasi_identifiers))} FROM query_table(relation)
),
__kanon_everybody AS MATERIALIZED (
    SELECT count(*) AS there, [list_sort([*COLUMNS(*)], 'ASC', 'NULLS FIRST')] AS cells FROM (SELECT {'name': __kanon_caseless(alias(COLUMNS(quasi_identifiers))), 'key': __kanon_key(COLUMNS(quasi_identifiers))} FROM query_table(population)) AS __kanon GROUP BY ALL
),
__kanon_met AS (
    SELECT here, greatest(coalesce(there, 0), here)::DOUBLE AS people,
           CASE WHEN coalesce(there, 0) < here THEN here ELSE 0 END AS short
    FROM (SELECT count(*) AS here, [list_sort([*COLUMNS(*)], 'ASC', 'NULLS FIRST')] AS cells FROM __kanon_kept GROUP BY ALL)
    LEFT JOIN __kanon_everybody USING (cells)
),
__kanon_pairs AS MATERIALIZED (  -- classes by their rows here, and by their people
    SELECT here, people, count(*) AS classes, sum(short)::BIGINT AS short FROM __kanon_met GROUP BY ALL
),
__kanon_facts AS (
    SELECT *
    FROM (SELECT coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
                 count(*) AS classes,
                 min(__kanon_size) AS smallest,
                 count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
                 coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < k), 0)::BIGINT AS below,
                 sum(__kanon_size::HUGEINT * __kanon_size)::DOUBLE AS squares,
                 NULL AS measured
          FROM __kanon_sizes)
    CROSS JOIN (
        SELECT min(people) AS least,
               __kanon_added(classes * here / people) AS found,
               coalesce(sum(here * classes) FILTER (WHERE people < k), 0)::BIGINT AS people_below,
               sum(short)::BIGINT AS short,
               coalesce(sum(classes) FILTER (WHERE people = 1), 0)::BIGINT AS alone
        FROM __kanon_pairs)
    CROSS JOIN (SELECT (SELECT sum(there)::DOUBLE FROM __kanon_everybody) AS people, (SELECT count(*) FILTER (WHERE there = 1) FROM __kanon_everybody) AS people_unique)
)
SELECT "rows" AS "rows",
       classes AS "classes",
       uniques AS "uniques",
       classes::DOUBLE / nullif("rows", 0) AS "distinctness",
       CASE WHEN "rows" > 1 THEN 1 - (squares - "rows") / ("rows"::DOUBLE * ("rows" - 1)) END AS "separation",
       1.0::DOUBLE / smallest AS "prosecutor_risk_max",
       classes::DOUBLE / nullif("rows", 0) AS "prosecutor_risk_mean",
       CASE WHEN k IS NOT NULL THEN below END AS "prosecutor_risk_rows_above",
       1.0::DOUBLE / least AS "journalist_risk_max",
       found / nullif("rows", 0) AS "journalist_risk_mean",
       CASE WHEN k IS NOT NULL THEN CASE WHEN least IS NOT NULL THEN people_below END END AS "journalist_risk_rows_above",
       coalesce(found, classes::DOUBLE) / nullif("rows", 0) AS "marketer_risk",
       least AS "k_map",
       CASE WHEN least IS NOT NULL THEN alone END AS "population_unique_rows",
       short AS "population_short",
       people AS "population_size",
       CASE WHEN people > 0 THEN "rows" / people END AS "sampling_fraction",
       people_unique AS "population_uniques"
FROM __kanon_facts
WHERE CASE WHEN NOT ends_with(typeof(quasi_identifiers), '[]')
    THEN error('quasi_identifiers is not a list of columns. Write it as [''age'', ''zip''].')
    ELSE true END;

CREATE OR REPLACE TEMP MACRO verify_release(parquet) AS TABLE
WITH __kanon_kept AS (FROM read_parquet(parquet, hive_partitioning := false)),
__kanon_footer AS MATERIALIZED (
    SELECT list(decode(value)) FILTER (WHERE decode(key) = 'kanon') AS manifests,
           coalesce(list(decode(key)) FILTER (WHERE decode(key) NOT IN ('kanon', 'geo')), []) AS others
    FROM parquet_kv_metadata(parquet)
),
__kanon_manifest AS MATERIALIZED (
    SELECT others,
           CASE WHEN coalesce(json_type(told, '$.made'), '') = 'OBJECT' AND coalesce(json_type(told, '$.options'), '') = 'OBJECT' AND coalesce(json_type(told, '$.roles'), '') = 'OBJECT' AND coalesce(json_type(told, '$.columns'), '') = 'OBJECT' AND coalesce(json_type(told, '$.metrics'), '') = 'OBJECT' AND coalesce(json_type(told, '$.release'), '') = 'OBJECT' THEN told
                ELSE error('The file has no manifest of a release: its footer must have the key ' || 'kanon' || ' once.')
                END AS manifest
    FROM (SELECT others, CASE WHEN len(manifests) = 1 AND json_valid(manifests[1]) THEN manifests[1]::JSON END AS told
          FROM __kanon_footer)
),
__kanon_entries AS MATERIALIZED (
    SELECT others, (manifest -> 'made')::MAP(VARCHAR, JSON) AS made,
           (manifest -> 'options')::MAP(VARCHAR, JSON) AS options,
           (manifest -> 'columns')::MAP(VARCHAR, VARCHAR) AS columns,
           (manifest -> 'roles')::MAP(VARCHAR, VARCHAR) AS roles,
           (manifest -> 'metrics')::MAP(VARCHAR, JSON) AS metrics,
           (manifest -> 'release')::MAP(VARCHAR, JSON) AS release,
           coalesce((manifest -> 'hierarchies')::MAP(VARCHAR, JSON), MAP {}) AS hierarchies
    FROM __kanon_manifest
),
__kanon_asked AS MATERIALIZED (  -- which columns the released rows are told apart by, and what was asked
    SELECT list_transform(list_filter(map_entries(roles), lambda r: r.value IN ('quasi_identifier', 'within')),
                          lambda r: r.key) AS __kanon_quasi,
           list_transform(list_filter(map_entries(roles), lambda r: r.value IN ('sensitive', 'other', 'within')),
                          lambda r: r.key) AS __kanon_passing,
           list_transform(list_filter(map_entries(roles), lambda r: r.value = 'sensitive'),
                          lambda r: r.key) AS __kanon_secret,
           len(list_filter(map_entries(roles), lambda r:
               r.value IN ('sensitive', 'other', 'within') AND list_contains(map_keys(columns), r.key)))
               AS unchanged_columns,
           TRY_CAST(options['k'] AS BIGINT) AS asked_k,
           TRY_CAST(metrics['rows'] AS BIGINT) AS rows_in,
           TRY_CAST(metrics['rows_suppressed'] AS BIGINT) AS rows_suppressed,
           coalesce(TRY_CAST(made['format'] AS BIGINT) = 2, false) AS readable
    FROM __kanon_entries
),
__kanon_masked AS (
    SELECT CASE WHEN list_contains(__kanon_quasi, alias(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable)))) THEN __kanon_seen(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable))) END
               AS '__kanon_seen_\0',
           CASE WHEN list_contains(__kanon_quasi, alias(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable)))) THEN __kanon_printed(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable))) END
               AS '__kanon_printed_\0',
           CASE WHEN list_contains(__kanon_secret, alias(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable)))) THEN {
               'part': alias(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable))), 'label': decode(encode(__kanon_key(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable))))),
               'number': (__kanon_cell(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable)))).number} END AS '__kanon_sensitive_\0'
    FROM __kanon_kept CROSS JOIN __kanon_asked
),
__kanon_classes AS MATERIALIZED (
    SELECT row_number() OVER () AS class, size, cells
    FROM (SELECT count(*) AS size, list([*COLUMNS('^__kanon_sensitive_')]) AS cells,
                 COLUMNS('^__kanon_(seen|printed)_')
          FROM __kanon_masked GROUP BY ALL)
),
__kanon_facts AS MATERIALIZED (
    SELECT *
    FROM (SELECT coalesce(sum(size), 0)::BIGINT AS rows_released, count(*) AS classes,
                 min(size) AS smallest, max(size) AS largest,
                 sum(size::HUGEINT * size)::DOUBLE AS squares
          FROM __kanon_classes)
    CROSS JOIN (
        SELECT count(*) FILTER (WHERE size = 1) AS alone
        FROM (SELECT count(*) AS size,
                     CASE WHEN list_contains(__kanon_passing, alias(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable)))) THEN __kanon_seen(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable))) END,
                     CASE WHEN list_contains(__kanon_passing, alias(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable)))) THEN __kanon_printed(COLUMNS(* EXCLUDE (__kanon_quasi, __kanon_passing, __kanon_secret, unchanged_columns, asked_k, rows_in, rows_suppressed, readable))) END
              FROM __kanon_kept CROSS JOIN __kanon_asked GROUP BY ALL))
    CROSS JOIN __kanon_asked
    CROSS JOIN (SELECT (SELECT sha256(head || coalesce(array_to_string(
            list_transform(list_sort(parts, 'ASC', 'NULLS LAST'), lambda part: part.digest), ''), ''))
    FROM (SELECT array_to_string([*COLUMNS(*)], '') AS head
          FROM (SELECT strlen(alias(COLUMNS(*))) || ':' || alias(COLUMNS(*))
                    || strlen(__kanon_type(COLUMNS(*))) || ':' || __kanon_type(COLUMNS(*))
                FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_kept WHERE false) AS __kanon_none ON true)))
    CROSS JOIN (
        SELECT list({'start': start, 'digest': digest}) AS parts
        FROM (SELECT digest[1:3] AS start,
                     sha256(array_to_string(list_sort(list(digest), 'ASC', 'NULLS LAST'), '')) AS digest
              FROM (SELECT sha256(concat(*COLUMNS(*))) AS digest
              FROM (SELECT CASE WHEN COLUMNS(*) IS NULL THEN '-'
                                ELSE concat(strlen(COLUMNS(*)), ':', COLUMNS(*)) END
                    FROM (SELECT __kanon_text(COLUMNS(*)) FROM __kanon_kept)))
              GROUP BY digest[1:3]))) AS digest)
),
__kanon_told AS (  -- the facts under the names of the manifest's metrics
    SELECT *, CASE WHEN unchanged_columns > 0 THEN alone ELSE 0 END AS unique_in_unchanged
    FROM __kanon_facts
),
__kanon_histogram_0 AS MATERIALIZED (  -- rows of each value in each combination
    SELECT cell.part AS part, class || ' ' || cell.part AS combination, cell.label AS label,
           cell.number AS sorted, cell.number AS number, count(*) AS size
    FROM (SELECT class, unnest(flatten(cells)) AS cell FROM __kanon_classes)
    WHERE cell.part IS NOT NULL GROUP BY class, cell.part, cell.label, cell.number
),
__kanon_domain_0 AS MATERIALIZED (  -- the values of all rows in their order, a missing one last
    SELECT part, label, sum(size)::BIGINT AS many, any_value(number) AS number,
           row_number() OVER (PARTITION BY part ORDER BY label IS NULL ASC, min(sorted) ASC NULLS LAST,
                                       encode(label) ASC NULLS LAST) - 1 AS place
    FROM __kanon_histogram_0 GROUP BY part, label
),
__kanon_whole_0 AS MATERIALIZED (  -- all rows
    SELECT part, coalesce(sum(many), 0)::BIGINT AS many, count(label) AS different,
           coalesce(sum(many) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing,
           count(number) > 0 AS ordered
    FROM __kanon_domain_0 GROUP BY part
),
__kanon_spread_0 AS MATERIALIZED (  -- the rows of each combination
    SELECT part, combination, sum(size)::BIGINT AS size, count(label) AS different,
           coalesce(sum(size) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing
    FROM __kanon_histogram_0 GROUP BY part, combination
),
__kanon_placed_0 AS (  -- rows of each value in each combination, and among all rows
    SELECT __kanon_histogram_0.part, combination, __kanon_domain_0.label, place, size, many
    FROM __kanon_histogram_0 JOIN __kanon_domain_0
        ON __kanon_histogram_0.label IS NOT DISTINCT FROM __kanon_domain_0.label
        AND __kanon_histogram_0.part = __kanon_domain_0.part
),
__kanon_ranked_0 AS MATERIALIZED (  -- missing values may count for the most frequent
    SELECT combination, size, list_concat(counts[:len(counts) - 1], [counts[len(counts)] + missing]) AS counts
    FROM (SELECT combination, sum(size)::BIGINT AS size,
                 coalesce(sum(size) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing,
                 list_sort(list(size) FILTER (WHERE label IS NOT NULL), 'ASC', 'NULLS FIRST') AS counts
          FROM __kanon_histogram_0 GROUP BY combination)
),
__kanon_line_2 AS MATERIALIZED (  -- of each value: rows with it or a lower one, and sums of these
    SELECT part, place, whole, upto, position, gap,
           coalesce(system.main.sum(upto) OVER lower, 0) AS area,
           coalesce(system.main.sum(upto::DOUBLE / whole * gap) OVER lower, 0) AS moment
    FROM (SELECT part, place, position, upto::HUGEINT AS upto, whole::HUGEINT AS whole,
                 coalesce(system.main.min(position) OVER (
                     PARTITION BY part ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING), position)
                     - position AS gap
          FROM (SELECT part, place, 0 AS position, system.main.sum(many) OVER (PARTITION BY part ) AS whole,
                       system.main.sum(many) OVER (PARTITION BY part ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS upto
                FROM __kanon_domain_0 WHERE label IS NOT NULL))
    WINDOW lower AS (PARTITION BY part ORDER BY place ASC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
__kanon_own_2 AS (  -- of each value of a combination: its rows with it or a lower one
    SELECT part, combination, place, position, area, moment, whole,
           seen::HUGEINT AS seen, total::HUGEINT AS total,
           coalesce(system.main.min(place) OVER next, last_place) AS next_place,
           coalesce(system.main.min(position) OVER next, last_position) AS next_position,
           coalesce(system.main.min(area) OVER next, last_area) AS next_area,
           coalesce(system.main.min(moment) OVER next, last_moment) AS next_moment
    FROM (SELECT *, system.main.sum(size) OVER (PARTITION BY combination) AS total,
                 system.main.sum(size) OVER (
                     PARTITION BY combination ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS seen
          FROM (SELECT part, combination, place, size FROM __kanon_placed_0 WHERE label IS NOT NULL)
          JOIN __kanon_line_2 USING (part, place))
    JOIN (SELECT part, max(place) AS last_place, max(position) AS last_position,
                       max(area) AS last_area, max(moment) AS last_moment
                FROM __kanon_line_2 GROUP BY part) USING (part)
    WINDOW next AS (
        PARTITION BY combination ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)
),
__kanon_parted_2 AS (  -- where the share of all rows passes that of the combination
    SELECT own.* EXCLUDE (whole), seen * own.whole AS level,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.place
                WHEN line.place >= next_place THEN next_place ELSE line.place + 1 END AS x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.position
                WHEN line.place >= next_place THEN next_position
                ELSE line.position + line.gap END AS position_x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.area
                WHEN line.place >= next_place THEN next_area ELSE line.area + line.upto END AS area_x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.moment
                WHEN line.place >= next_place THEN next_moment
                ELSE line.moment + line.upto::DOUBLE / line.whole * line.gap END AS moment_x
    FROM __kanon_own_2 AS own
    ASOF LEFT JOIN __kanon_line_2 AS line ON own.part = line.part AND seen * own.whole // total >= line.upto
),
__kanon_moved_2 AS MATERIALIZED (  -- ranks: times total times whole; gaps: as a share
    SELECT combination,
           any_value(total) * min(area) + sum(
               level * (x - place) - total * (area_x - area)
               + total * (next_area - area_x) - level * (next_place - x)) AS ranks,
           min(moment) + sum(
               seen::DOUBLE / total * (position_x - position) - (moment_x - moment)
               + (next_moment - moment_x) - seen::DOUBLE / total * (next_position - position_x)
               ORDER BY place ASC) AS gaps
    FROM __kanon_parted_2 GROUP BY combination
),
__kanon_line_4 AS MATERIALIZED (  -- of each value: rows with it or a lower one, and sums of these
    SELECT part, place, whole, upto, position, gap,
           coalesce(system.main.sum(upto) OVER lower, 0) AS area,
           coalesce(system.main.sum(upto::DOUBLE / whole * gap) OVER lower, 0) AS moment
    FROM (SELECT part, place, position, upto::HUGEINT AS upto, whole::HUGEINT AS whole,
                 coalesce(system.main.min(position) OVER (
                     PARTITION BY part ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING), position)
                     - position AS gap
          FROM (SELECT part, place, coalesce((number - system.main.min(number) OVER (PARTITION BY part )) / nullif(system.main.max(number) OVER (PARTITION BY part ) - system.main.min(number) OVER (PARTITION BY part ), 0), 0) AS position, system.main.sum(many) OVER (PARTITION BY part ) AS whole,
                       system.main.sum(many) OVER (PARTITION BY part ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS upto
                FROM __kanon_domain_0 WHERE label IS NOT NULL))
    WINDOW lower AS (PARTITION BY part ORDER BY place ASC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
__kanon_own_4 AS (  -- of each value of a combination: its rows with it or a lower one
    SELECT part, combination, place, position, area, moment, whole,
           seen::HUGEINT AS seen, total::HUGEINT AS total,
           coalesce(system.main.min(place) OVER next, last_place) AS next_place,
           coalesce(system.main.min(position) OVER next, last_position) AS next_position,
           coalesce(system.main.min(area) OVER next, last_area) AS next_area,
           coalesce(system.main.min(moment) OVER next, last_moment) AS next_moment
    FROM (SELECT *, system.main.sum(size) OVER (PARTITION BY combination) AS total,
                 system.main.sum(size) OVER (
                     PARTITION BY combination ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS seen
          FROM (SELECT part, combination, place, size FROM __kanon_placed_0 WHERE label IS NOT NULL)
          JOIN __kanon_line_4 USING (part, place))
    JOIN (SELECT part, max(place) AS last_place, max(position) AS last_position,
                       max(area) AS last_area, max(moment) AS last_moment
                FROM __kanon_line_4 GROUP BY part) USING (part)
    WINDOW next AS (
        PARTITION BY combination ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)
),
__kanon_parted_4 AS (  -- where the share of all rows passes that of the combination
    SELECT own.* EXCLUDE (whole), seen * own.whole AS level,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.place
                WHEN line.place >= next_place THEN next_place ELSE line.place + 1 END AS x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.position
                WHEN line.place >= next_place THEN next_position
                ELSE line.position + line.gap END AS position_x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.area
                WHEN line.place >= next_place THEN next_area ELSE line.area + line.upto END AS area_x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.moment
                WHEN line.place >= next_place THEN next_moment
                ELSE line.moment + line.upto::DOUBLE / line.whole * line.gap END AS moment_x
    FROM __kanon_own_4 AS own
    ASOF LEFT JOIN __kanon_line_4 AS line ON own.part = line.part AND seen * own.whole // total >= line.upto
),
__kanon_moved_4 AS MATERIALIZED (  -- ranks: times total times whole; gaps: as a share
    SELECT combination,
           any_value(total) * min(area) + sum(
               level * (x - place) - total * (area_x - area)
               + total * (next_area - area_x) - level * (next_place - x)) AS ranks,
           min(moment) + sum(
               seen::DOUBLE / total * (position_x - position) - (moment_x - moment)
               + (next_moment - moment_x) - seen::DOUBLE / total * (next_position - position_x)
               ORDER BY place ASC) AS gaps
    FROM __kanon_parted_4 GROUP BY combination
),
__kanon_held_0 AS MATERIALIZED (  -- all of it at once
    SELECT part, combination, size, any_value(missing) AS missing, any_value(whole) AS whole,
           sum(greatest(0, rows_of::HUGEINT * whole - size::HUGEINT * rows_of_all)) AS above_3,
           bool_and((rows_of + missing) * 1000000::HUGEINT <= size * coalesce(1000000, 1000000)) FILTER (WHERE label IS NOT NULL) AS fits_5,
           max(CASE WHEN 1000000 IS NOT NULL THEN rows_of + missing END) FILTER (WHERE label IS NOT NULL) AS most_5,
           count(*) AS found_6,
           max(abs(system.main.ln(own / overall))) AS farthest_6,
           bool_and(system.main.exp(-1.0::DOUBLE) * overall * (1 + 1e-12::DOUBLE) <= own AND own <= system.main.exp(1.0::DOUBLE) * overall * (1 - 1e-12::DOUBLE)) AS fits_6,
           max((rows_of::HUGEINT * whole - rows_of_all::HUGEINT * size)::DOUBLE
               / (rows_of_all::HUGEINT * size)::DOUBLE) AS gain_7,
           bool_and(rows_of::HUGEINT * whole * 1::HUGEINT <= 2::HUGEINT * rows_of_all * size) AS fits_7
    FROM (SELECT part, combination, label, size, missing, rows_of, rows_of_all, whole,
                 rows_of::DOUBLE / size AS own, rows_of_all::DOUBLE / whole AS overall
          FROM (SELECT part, combination, label, size AS rows_of, many AS rows_of_all
                FROM __kanon_placed_0)
          JOIN (SELECT part, combination, size, missing FROM __kanon_spread_0) USING (part, combination)
          JOIN (SELECT part, many AS whole FROM __kanon_whole_0) USING (part))
    GROUP BY part, combination, size
),
__kanon_model_0 AS MATERIALIZED (
    SELECT combination, size, found >= 2 AS passes, found::DOUBLE AS has
    FROM (SELECT combination, size, different AS found FROM __kanon_spread_0)
),
__kanon_model_1 AS MATERIALIZED (
    SELECT combination, size,
           coalesce((even AND different >= 2.0) OR entropy >= system.main.ln(2.0::DOUBLE) + 1e-12, false)
               AS passes,
           coalesce(CASE WHEN even THEN different ELSE system.main.exp(entropy) END, 0)::DOUBLE AS has
    FROM (SELECT combination, size, len(counts) AS different, counts[1] = counts[len(counts)] AS even,
                 system.main.ln(list_sum(counts)::DOUBLE) - list_sum(list_transform(
                     counts, lambda own: own * system.main.ln(own::DOUBLE))) / list_sum(counts) AS entropy
          FROM __kanon_ranked_0)
),
__kanon_model_2 AS MATERIALIZED (
    SELECT combination, size,
           CASE WHEN absent = 0 AND steps > 0 THEN coalesce(ranks * 1::HUGEINT <= 1::HUGEINT * steps * size * whole, false)
                WHEN steps <= 0 AND absent = 0 THEN true
                ELSE away <= 1.0::DOUBLE - 1e-12 END AS passes,
           CASE WHEN absent = 0 AND steps > 0 AND steps > 0
                THEN ranks::DOUBLE / (steps::DOUBLE * size * whole) ELSE away END AS has
    FROM (SELECT *, abs(missing / size - absent / whole) + least(
                     1 - missing / size, 1 - absent / whole) * coalesce(CASE WHEN steps > 0 THEN ranks::DOUBLE / (steps::DOUBLE * (size - missing) * (whole - absent)) END, 0) AS away
          FROM (SELECT part, combination, size::HUGEINT AS size, missing::DOUBLE AS missing
                FROM __kanon_spread_0)
          JOIN (SELECT part, many::HUGEINT AS whole, different - 1 AS steps,
                             missing::DOUBLE AS absent
                      FROM __kanon_whole_0) USING (part)
          LEFT JOIN __kanon_moved_2 USING (combination))
),
__kanon_model_3 AS MATERIALIZED (
    SELECT combination, size::HUGEINT AS size, above_3 * 1::HUGEINT <= 1::HUGEINT * size::HUGEINT * whole AS passes,
           above_3::DOUBLE / (size::DOUBLE * whole) AS has
    FROM __kanon_held_0
),
__kanon_model_4 AS MATERIALIZED (
    SELECT combination, size,
           CASE WHEN false THEN coalesce(ranks * 1::HUGEINT <= 1::HUGEINT * steps * size * whole, false)
                WHEN steps <= 0 AND absent = 0 THEN true
                ELSE away <= 1.0::DOUBLE - 1e-12 END AS passes,
           CASE WHEN false AND steps > 0
                THEN ranks::DOUBLE / (steps::DOUBLE * size * whole) ELSE away END AS has
    FROM (SELECT *, abs(missing / size - absent / whole) + least(
                     1 - missing / size, 1 - absent / whole) * coalesce(gaps, 0) AS away
          FROM (SELECT part, combination, size::HUGEINT AS size, missing::DOUBLE AS missing
                FROM __kanon_spread_0)
          JOIN (SELECT part, many::HUGEINT AS whole, different - 1 AS steps,
                             missing::DOUBLE AS absent
                      FROM __kanon_whole_0) USING (part)
          LEFT JOIN __kanon_moved_4 USING (combination))
),
__kanon_model_5 AS MATERIALIZED (
    SELECT combination, size,
           coalesce(fits_5, true) AND missing * 1000000::HUGEINT <= size * 1000000 AS passes,
           greatest(coalesce(most_5, 0), missing)::DOUBLE / size AS has
    FROM __kanon_held_0
),
__kanon_model_6 AS MATERIALIZED (
    SELECT combination, size,
           found_6 = different AND fits_6 AS passes,
           CASE WHEN found_6 = different THEN farthest_6 ELSE 'inf'::DOUBLE END AS has
    FROM __kanon_held_0
    JOIN (SELECT part, count(*) AS different FROM __kanon_domain_0 GROUP BY part) USING (part)
),
__kanon_model_7 AS MATERIALIZED (
    SELECT combination, size, fits_7 AS passes, gain_7 AS has FROM __kanon_held_0
),
__kanon_shown AS MATERIALIZED (  -- each metric that the file shows, and what was asked of it
    SELECT unnest([
        {'metric': 'rows_released', 'value': (rows_released)::DOUBLE},
        {'metric': 'classes', 'value': (classes)::DOUBLE},
        {'metric': 'class_size_mean', 'value': (rows_released::DOUBLE / nullif(classes, 0))::DOUBLE},
        {'metric': 'class_size_max', 'value': (largest)::DOUBLE},
        {'metric': 'k_requested', 'value': (asked_k)::DOUBLE},
        {'metric': 'k', 'value': (smallest)::DOUBLE},
        {'metric': 'discernibility', 'value': (coalesce(squares, 0) + rows_in::DOUBLE * rows_suppressed)::DOUBLE},
        {'metric': 'c_avg', 'value': (rows_released::DOUBLE / nullif(classes, 0) / asked_k)::DOUBLE},
        {'metric': 'overfull_ratio', 'value': (largest::DOUBLE / asked_k)::DOUBLE},
        {'metric': 'quadratic_penalty', 'value': (coalesce(squares, 0) - asked_k * rows_released::DOUBLE)::DOUBLE},
        {'metric': 'unchanged_columns', 'value': (unchanged_columns)::DOUBLE},
        {'metric': 'unique_in_unchanged', 'value': (unique_in_unchanged)::DOUBLE},
        {'metric': 'prosecutor_risk_max', 'value': (1.0::DOUBLE / smallest)::DOUBLE},
        {'metric': 'prosecutor_risk_mean', 'value': (classes::DOUBLE / nullif(rows_released, 0))::DOUBLE}], recursive := true), NULL::DOUBLE AS asked, NULL::BOOLEAN AS more_is_better
    FROM __kanon_told
    UNION ALL
    SELECT 'l' || ' (' || part || ')' AS metric, system.main.min(has)::DOUBLE AS value,
           any_value(TRY_CAST(coalesce(CASE WHEN json_type(options['l']) = 'OBJECT' THEN TRY_CAST(options['l'] AS MAP(VARCHAR, JSON))[part] ELSE options['l'] END ->> '$', '') AS DOUBLE)) AS asked, true AS more_is_better
    FROM __kanon_model_0 JOIN (SELECT part, combination FROM __kanon_spread_0) USING (combination)
    JOIN (SELECT part, ordered FROM __kanon_whole_0) USING (part) CROSS JOIN __kanon_entries
    WHERE TRY_CAST(coalesce(CASE WHEN json_type(options['l']) = 'OBJECT' THEN TRY_CAST(options['l'] AS MAP(VARCHAR, JSON))[part] ELSE options['l'] END ->> '$', '') AS DOUBLE) IS NOT NULL AND
          coalesce(CASE WHEN json_type(options['diversity_kind']) = 'OBJECT' THEN TRY_CAST(options['diversity_kind'] AS MAP(VARCHAR, JSON))[part] ELSE options['diversity_kind'] END ->> '$', '') = 'distinct' AND
          coalesce(options['sensitive_nulls'] ->> '$', '') = 'worst'
          AND (coalesce(options['entity'] ->> '$', '') = ''
               OR coalesce(options['entity_rows'] ->> '$', '') = 'apart')
          AND NOT list_contains(map_keys(hierarchies), part)
    GROUP BY part
    UNION ALL
    SELECT 'l' || ' (' || part || ')' AS metric, system.main.min(has)::DOUBLE AS value,
           any_value(TRY_CAST(coalesce(CASE WHEN json_type(options['l']) = 'OBJECT' THEN TRY_CAST(options['l'] AS MAP(VARCHAR, JSON))[part] ELSE options['l'] END ->> '$', '') AS DOUBLE)) AS asked, true AS more_is_better
    FROM __kanon_model_1 JOIN (SELECT part, combination FROM __kanon_spread_0) USING (combination)
    JOIN (SELECT part, ordered FROM __kanon_whole_0) USING (part) CROSS JOIN __kanon_entries
    WHERE TRY_CAST(coalesce(CASE WHEN json_type(options['l']) = 'OBJECT' THEN TRY_CAST(options['l'] AS MAP(VARCHAR, JSON))[part] ELSE options['l'] END ->> '$', '') AS DOUBLE) IS NOT NULL AND
          coalesce(CASE WHEN json_type(options['diversity_kind']) = 'OBJECT' THEN TRY_CAST(options['diversity_kind'] AS MAP(VARCHAR, JSON))[part] ELSE options['diversity_kind'] END ->> '$', '') = 'entropy' AND
          coalesce(options['sensitive_nulls'] ->> '$', '') = 'worst'
          AND (coalesce(options['entity'] ->> '$', '') = ''
               OR coalesce(options['entity_rows'] ->> '$', '') = 'apart')
          AND NOT list_contains(map_keys(hierarchies), part)
    GROUP BY part
    UNION ALL
    SELECT 't' || ' (' || part || ')' AS metric, system.main.max(has)::DOUBLE AS value,
           any_value(TRY_CAST(coalesce(CASE WHEN json_type(options['t']) = 'OBJECT' THEN TRY_CAST(options['t'] AS MAP(VARCHAR, JSON))[part] ELSE options['t'] END ->> '$', '') AS DOUBLE)) AS asked, false AS more_is_better
    FROM __kanon_model_2 JOIN (SELECT part, combination FROM __kanon_spread_0) USING (combination)
    JOIN (SELECT part, ordered FROM __kanon_whole_0) USING (part) CROSS JOIN __kanon_entries
    WHERE TRY_CAST(coalesce(CASE WHEN json_type(options['t']) = 'OBJECT' THEN TRY_CAST(options['t'] AS MAP(VARCHAR, JSON))[part] ELSE options['t'] END ->> '$', '') AS DOUBLE) IS NOT NULL AND
          CASE coalesce(CASE WHEN json_type(options['closeness']) = 'OBJECT' THEN TRY_CAST(options['closeness'] AS MAP(VARCHAR, JSON))[part] ELSE options['closeness'] END ->> '$', '') WHEN '' THEN ordered ELSE coalesce(CASE WHEN json_type(options['closeness']) = 'OBJECT' THEN TRY_CAST(options['closeness'] AS MAP(VARCHAR, JSON))[part] ELSE options['closeness'] END ->> '$', '') = 'ordered' END AND
          coalesce(options['sensitive_nulls'] ->> '$', '') = 'worst'
          AND (coalesce(options['entity'] ->> '$', '') = ''
               OR coalesce(options['entity_rows'] ->> '$', '') = 'apart')
          AND NOT list_contains(map_keys(hierarchies), part) AND
          coalesce(options['within'] ->> '$', '') IN ('', '[]')
    GROUP BY part
    UNION ALL
    SELECT 't' || ' (' || part || ')' AS metric, system.main.max(has)::DOUBLE AS value,
           any_value(TRY_CAST(coalesce(CASE WHEN json_type(options['t']) = 'OBJECT' THEN TRY_CAST(options['t'] AS MAP(VARCHAR, JSON))[part] ELSE options['t'] END ->> '$', '') AS DOUBLE)) AS asked, false AS more_is_better
    FROM __kanon_model_3 JOIN (SELECT part, combination FROM __kanon_spread_0) USING (combination)
    JOIN (SELECT part, ordered FROM __kanon_whole_0) USING (part) CROSS JOIN __kanon_entries
    WHERE TRY_CAST(coalesce(CASE WHEN json_type(options['t']) = 'OBJECT' THEN TRY_CAST(options['t'] AS MAP(VARCHAR, JSON))[part] ELSE options['t'] END ->> '$', '') AS DOUBLE) IS NOT NULL AND
          CASE coalesce(CASE WHEN json_type(options['closeness']) = 'OBJECT' THEN TRY_CAST(options['closeness'] AS MAP(VARCHAR, JSON))[part] ELSE options['closeness'] END ->> '$', '') WHEN '' THEN NOT ordered ELSE coalesce(CASE WHEN json_type(options['closeness']) = 'OBJECT' THEN TRY_CAST(options['closeness'] AS MAP(VARCHAR, JSON))[part] ELSE options['closeness'] END ->> '$', '') = 'equal' END AND
          coalesce(options['sensitive_nulls'] ->> '$', '') = 'worst'
          AND (coalesce(options['entity'] ->> '$', '') = ''
               OR coalesce(options['entity_rows'] ->> '$', '') = 'apart')
          AND NOT list_contains(map_keys(hierarchies), part) AND
          coalesce(options['within'] ->> '$', '') IN ('', '[]')
    GROUP BY part
    UNION ALL
    SELECT 't' || ' (' || part || ')' AS metric, system.main.max(has)::DOUBLE AS value,
           any_value(TRY_CAST(coalesce(CASE WHEN json_type(options['t']) = 'OBJECT' THEN TRY_CAST(options['t'] AS MAP(VARCHAR, JSON))[part] ELSE options['t'] END ->> '$', '') AS DOUBLE)) AS asked, false AS more_is_better
    FROM __kanon_model_4 JOIN (SELECT part, combination FROM __kanon_spread_0) USING (combination)
    JOIN (SELECT part, ordered FROM __kanon_whole_0) USING (part) CROSS JOIN __kanon_entries
    WHERE TRY_CAST(coalesce(CASE WHEN json_type(options['t']) = 'OBJECT' THEN TRY_CAST(options['t'] AS MAP(VARCHAR, JSON))[part] ELSE options['t'] END ->> '$', '') AS DOUBLE) IS NOT NULL AND
          CASE coalesce(CASE WHEN json_type(options['closeness']) = 'OBJECT' THEN TRY_CAST(options['closeness'] AS MAP(VARCHAR, JSON))[part] ELSE options['closeness'] END ->> '$', '') WHEN '' THEN false ELSE coalesce(CASE WHEN json_type(options['closeness']) = 'OBJECT' THEN TRY_CAST(options['closeness'] AS MAP(VARCHAR, JSON))[part] ELSE options['closeness'] END ->> '$', '') = 'numeric' END AND
          coalesce(options['sensitive_nulls'] ->> '$', '') = 'worst'
          AND (coalesce(options['entity'] ->> '$', '') = ''
               OR coalesce(options['entity_rows'] ->> '$', '') = 'apart')
          AND NOT list_contains(map_keys(hierarchies), part) AND
          coalesce(options['within'] ->> '$', '') IN ('', '[]')
    GROUP BY part
    UNION ALL
    SELECT 'alpha' || ' (' || part || ')' AS metric, system.main.max(has)::DOUBLE AS value,
           any_value(TRY_CAST(coalesce(CASE WHEN json_type(options['alpha']) = 'OBJECT' THEN TRY_CAST(options['alpha'] AS MAP(VARCHAR, JSON))[part] ELSE options['alpha'] END ->> '$', '') AS DOUBLE)) AS asked, false AS more_is_better
    FROM __kanon_model_5 JOIN (SELECT part, combination FROM __kanon_spread_0) USING (combination)
    JOIN (SELECT part, ordered FROM __kanon_whole_0) USING (part) CROSS JOIN __kanon_entries
    WHERE TRY_CAST(coalesce(CASE WHEN json_type(options['alpha']) = 'OBJECT' THEN TRY_CAST(options['alpha'] AS MAP(VARCHAR, JSON))[part] ELSE options['alpha'] END ->> '$', '') AS DOUBLE) IS NOT NULL AND
          true AND
          coalesce(options['sensitive_nulls'] ->> '$', '') = 'worst'
          AND (coalesce(options['entity'] ->> '$', '') = ''
               OR coalesce(options['entity_rows'] ->> '$', '') = 'apart')
          AND NOT list_contains(map_keys(hierarchies), part)
    GROUP BY part
    UNION ALL
    SELECT 'delta' || ' (' || part || ')' AS metric, system.main.max(has)::DOUBLE AS value,
           any_value(TRY_CAST(coalesce(CASE WHEN json_type(options['delta']) = 'OBJECT' THEN TRY_CAST(options['delta'] AS MAP(VARCHAR, JSON))[part] ELSE options['delta'] END ->> '$', '') AS DOUBLE)) AS asked, false AS more_is_better
    FROM __kanon_model_6 JOIN (SELECT part, combination FROM __kanon_spread_0) USING (combination)
    JOIN (SELECT part, ordered FROM __kanon_whole_0) USING (part) CROSS JOIN __kanon_entries
    WHERE TRY_CAST(coalesce(CASE WHEN json_type(options['delta']) = 'OBJECT' THEN TRY_CAST(options['delta'] AS MAP(VARCHAR, JSON))[part] ELSE options['delta'] END ->> '$', '') AS DOUBLE) IS NOT NULL AND
          true AND
          coalesce(options['sensitive_nulls'] ->> '$', '') = 'worst'
          AND (coalesce(options['entity'] ->> '$', '') = ''
               OR coalesce(options['entity_rows'] ->> '$', '') = 'apart')
          AND NOT list_contains(map_keys(hierarchies), part) AND
          coalesce(options['within'] ->> '$', '') IN ('', '[]')
    GROUP BY part
    UNION ALL
    SELECT 'beta' || ' (' || part || ')' AS metric, system.main.max(has)::DOUBLE AS value,
           any_value(TRY_CAST(coalesce(CASE WHEN json_type(options['beta']) = 'OBJECT' THEN TRY_CAST(options['beta'] AS MAP(VARCHAR, JSON))[part] ELSE options['beta'] END ->> '$', '') AS DOUBLE)) AS asked, false AS more_is_better
    FROM __kanon_model_7 JOIN (SELECT part, combination FROM __kanon_spread_0) USING (combination)
    JOIN (SELECT part, ordered FROM __kanon_whole_0) USING (part) CROSS JOIN __kanon_entries
    WHERE TRY_CAST(coalesce(CASE WHEN json_type(options['beta']) = 'OBJECT' THEN TRY_CAST(options['beta'] AS MAP(VARCHAR, JSON))[part] ELSE options['beta'] END ->> '$', '') AS DOUBLE) IS NOT NULL AND
          true AND
          coalesce(options['sensitive_nulls'] ->> '$', '') = 'worst'
          AND (coalesce(options['entity'] ->> '$', '') = ''
               OR coalesce(options['entity_rows'] ->> '$', '') = 'apart')
          AND NOT list_contains(map_keys(hierarchies), part) AND
          coalesce(options['within'] ->> '$', '') IN ('', '[]')
    GROUP BY part
),
__kanon_file AS MATERIALIZED (  -- name, type and number of values of each column of the file
    SELECT list({'name': c[1], 'type': c[2], 'known': known, 'place': place}) AS columns
    FROM (SELECT unnest(columns) AS c, unnest(counts) AS known, generate_subscripts(columns, 1) AS place
          FROM (SELECT [*COLUMNS(*)] AS columns FROM (SELECT [alias(COLUMNS(*)), typeof(COLUMNS(*))] FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_kept WHERE false) AS __kanon_none ON true)))
          CROSS JOIN (SELECT [*COLUMNS(*)] AS counts FROM (SELECT count(COLUMNS(*)) FROM __kanon_kept)))
),
__kanon_names AS (
    SELECT __kanon_entries.*, __kanon_file.columns AS file,
           list_transform(__kanon_file.columns, lambda c: c.name) AS names
    FROM __kanon_entries CROSS JOIN __kanon_file
),
__kanon_findings AS (
    SELECT 'footer.' || key AS entry, false AS fits, NULL::VARCHAR AS stated, 'a key that no release writes' AS computed
    FROM (SELECT unnest(others) AS key FROM __kanon_entries)
    UNION ALL
    SELECT 'columns.' || c.name, coalesce(columns[c.name] = c.type AND map_keys(columns)[c.place] = c.name, false),
           columns[c.name], c.type
    FROM (SELECT unnest(file) AS c, columns FROM __kanon_names)
    UNION ALL
    SELECT 'columns.' || c.key, false, c.value, NULL
    FROM (SELECT unnest(map_entries(columns)) AS c, names FROM __kanon_names) WHERE NOT list_contains(names, c.key)
    UNION ALL
    SELECT 'roles.' || r.key,
           CASE WHEN r.value IN ('identifier', 'entity') THEN NOT list_contains(names, r.key)
                WHEN r.value = 'withheld' THEN list_contains(names, r.key)
                    AND len(list_filter(file, lambda c: c.name = r.key AND c.known > 0)) = 0
                ELSE list_contains(names, r.key) END,
           r.value, CASE WHEN list_contains(names, r.key) THEN 'a column of the file' ELSE 'no column of the file' END
    FROM (SELECT unnest(map_entries(roles)) AS r, names, file FROM __kanon_names)
    UNION ALL
    SELECT 'release.rows_sha256', coalesce(release['rows_sha256'] ->> '$' = digest, false),
           release['rows_sha256'] ->> '$', digest
    FROM __kanon_entries CROSS JOIN __kanon_facts
    UNION ALL
    SELECT 'metrics.rows', false, rows_in::VARCHAR, (rows_released + rows_suppressed)::VARCHAR
    FROM __kanon_facts WHERE NOT coalesce(rows_in = rows_released + rows_suppressed, false)
    UNION ALL
    SELECT 'options.k', coalesce(smallest >= asked_k, true), asked_k::VARCHAR, smallest::VARCHAR
    FROM __kanon_facts WHERE asked_k IS NOT NULL AND (SELECT coalesce(options['entity'], 'null') = 'null' FROM __kanon_entries)
    UNION ALL
    SELECT 'options.' || 'max_average_risk', coalesce(reached <= asked * (1 + 1e-9), true), asked::VARCHAR, reached::VARCHAR
    FROM (SELECT (classes::DOUBLE / nullif(rows_released, 0))::DOUBLE AS reached FROM __kanon_told)
    CROSS JOIN (SELECT TRY_CAST(options['max_average_risk'] AS DOUBLE) AS asked,
                       coalesce(options['entity'], 'null') = 'null' AS by_rows FROM __kanon_entries)
    WHERE asked IS NOT NULL AND by_rows
    UNION ALL
    SELECT 'metrics.' || metric,
           CASE WHEN stated IS NULL OR value IS NULL THEN stated IS NULL AND value IS NULL
                WHEN isfinite(stated) AND isfinite(value)
                    THEN abs(stated - value) <= greatest(1e-9 * greatest(abs(stated), abs(value)), 1e-12)
                ELSE stated = value END,
           stated::VARCHAR, value::VARCHAR
    FROM (SELECT metric, value, TRY_CAST(metrics[metric] ->> '$' AS DOUBLE) AS stated
          FROM __kanon_shown CROSS JOIN __kanon_entries)
    UNION ALL
    SELECT 'options.' || metric,
           CASE WHEN more_is_better THEN value >= asked * (1 - 1e-9) ELSE value <= asked * (1 + 1e-9) + 1e-12 END,
           asked::VARCHAR, value::VARCHAR
    FROM __kanon_shown WHERE asked IS NOT NULL
)
SELECT entry, verdict, stated, computed
FROM (SELECT entry, CASE WHEN fits THEN 'proven' ELSE 'wrong' END AS verdict, stated, computed FROM __kanon_findings
      UNION ALL
      SELECT entry, 'not checked', stated, NULL
      FROM (SELECT unnest(list_concat(
                list_transform(map_entries(made), lambda e: {'entry': 'made.' || e.key, 'stated': e.value::VARCHAR}),
                list_transform(map_entries(options), lambda e: {'entry': 'options.' || e.key, 'stated': e.value::VARCHAR}),
                list_transform(map_entries(hierarchies), lambda e: {'entry': 'hierarchies.' || e.key, 'stated': e.value::VARCHAR}),
                list_transform(map_entries(metrics), lambda e: {'entry': 'metrics.' || e.key, 'stated': e.value::VARCHAR}),
                list_transform(map_entries(release), lambda e: {'entry': 'release.' || e.key, 'stated': e.value::VARCHAR})
            ), recursive := true) FROM __kanon_entries)
      WHERE entry NOT IN (SELECT entry FROM __kanon_findings))
WHERE CASE WHEN (SELECT readable FROM __kanon_asked) THEN true
           ELSE error('The manifest has another format than 2. Verify it by the version of kanon_sql that made it.') END
ORDER BY verdict = 'wrong' DESC, verdict = 'proven' DESC, entry ASC;
