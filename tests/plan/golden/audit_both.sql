-- k_anonymity('patients', quasi_identifiers := ['age'], sensitive := ['disease'], entity := 'name', l := 2)
WITH __kanon_unshadowed AS MATERIALIZED (  -- refuses macros and settings that would change what follows
    SELECT CASE
        WHEN coalesce(system.main.current_setting('default_collation'), '') <> ''
            THEN system.main.error('The setting default_collation is on, which would change what the query means. RESET it, and give a collation to the columns that need one.')
        WHEN name IS NOT NULL THEN system.main.error(system.main.format('The database has a macro named ''{}'', which would change what the query means. Drop or rename it, or attach the database to another one and name the table with its database, for example ''file.main.patients''.', name))
        ELSE true END AS passed
    FROM (SELECT system.main.min(function_name) AS name
FROM (SELECT function_name, schema_name,
             system.main.lower(function_name) AS called,
             system.main.lower(database_name) AS held,
             system.main.replace(system.main.lower(database_name), '"', '""') AS held_quoted,
             system.main.replace(system.main.lower(schema_name), '"', '""') AS schema_quoted,
             system.main.concat(',', system.main.lower(system.main.current_setting('search_path')), ',') AS path
      FROM system.main.duckdb_functions()
      WHERE NOT internal) AS macros
WHERE called IN ('%', '*', '+', '-', '->>', '/', '//', '>>', '__kanon_audit', '__kanon_audited',
        '__kanon_centers', '__kanon_class_of', '__kanon_clock', '__kanon_finish',
        '__kanon_measure', '__kanon_risk', '__kanon_roles', '__kanon_start', '__kanon_take',
        '__kanon_tree', '__kanon_wait', 'abs', 'alias', 'any_value', 'array_extract',
        'array_length', 'array_slice', 'array_to_string', 'avg', 'bool_and', 'bool_or',
        'cast_to_type', 'concat', 'contains', 'count', 'count_star', 'create_sort_key',
        'decode', 'dense_rank', 'duckdb_columns', 'encode', 'epoch_ns', 'epoch_us', 'floor',
        'format', 'from_json', 'generate_series', 'generate_subscripts', 'greatest', 'hash',
        'histogram', 'if', 'isfinite', 'isinf', 'isnan', 'json_extract', 'least', 'len', 'list',
        'list_aggr', 'list_aggregate', 'list_concat', 'list_contains', 'list_distinct',
        'list_filter', 'list_grade_up', 'list_max', 'list_min', 'list_position', 'list_select',
        'list_sort', 'list_sum', 'list_transform', 'list_value', 'list_zip', 'make_timestamp',
        'make_timestamp_ns', 'make_timestamptz', 'map_entries', 'map_to_pg_oid', 'map_values',
        'max', 'md5', 'md5_number', 'min', 'nullif', 'power', 'quantile_disc', 'range',
        'regexp_full_match', 'regexp_matches', 'regexp_replace', 'replace', 'round',
        'round_even', 'row', 'row_number', 'sha256', 'signbit', 'split_part', 'starts_with',
        'string_split', 'strlen', 'struct_extract', 'struct_pack', 'sum', 'to_json',
        'to_microseconds', 'translate', 'typeof', 'unnest', 'version', '||', '~~')
  AND (held = 'temp'
       OR ((held = system.main.lower(system.main.current_database())
            OR system.main.contains(path, system.main.concat(',', held, '.'))
            OR system.main.contains(path, system.main.concat(',"', held_quoted, '".')))
           AND (schema_quoted = 'main'
                OR system.main.contains(path, system.main.concat('.', schema_quoted, ','))
                OR system.main.contains(path, system.main.concat('."', schema_quoted, '",'))))))
),
__kanon_sets AS MATERIALIZED (
    SELECT row_number() OVER () AS combination, cells
    FROM (SELECT list({'whose': decode(encode(__kanon_key("name"))), 'label_0': decode(encode(__kanon_key("disease"))), 'sorted_0': __kanon_value("disease"), 'number_0': (__kanon_cell("disease")).number}) AS cells, __kanon_seen(COLUMNS(['age'])), __kanon_printed(COLUMNS(['age']))
          FROM "patients" AS __kanon
    WHERE __kanon_has(COLUMNS(['age', 'disease', 'name'])) GROUP BY ALL)
),
__kanon_histogram_0 AS MATERIALIZED (  -- rows of each value in each combination
    SELECT combination, label, min(sorted) AS sorted, min(number) AS number, count(*) AS size
    FROM (SELECT combination, entity,
                 CASE WHEN labels = 1 AND missing = 0 THEN label END AS label,
                 CASE WHEN labels = 1 AND missing = 0 THEN sorted END AS sorted,
                 CASE WHEN labels = 1 AND missing = 0 THEN number END AS number
          FROM (SELECT combination, entity, count(DISTINCT label) AS labels,
                       count(*) FILTER (WHERE label IS NULL) AS missing,
                       min(label) AS label, min(sorted) AS sorted, min(number) AS number
                FROM (SELECT combination, cell.whose AS entity, cell.label_0 AS label,
                             cell.sorted_0 AS sorted, cell.number_0 AS number
                      FROM (SELECT combination, unnest(cells) AS cell FROM __kanon_sets))
                GROUP BY combination, entity))
    GROUP BY combination, label
),
__kanon_domain_0 AS MATERIALIZED (  -- the values of all rows in their order, a missing one last
    SELECT label, sum(size)::BIGINT AS many, any_value(number) AS number,
           row_number() OVER (ORDER BY label IS NULL ASC, min(sorted) ASC NULLS LAST,
                                       encode(label) ASC NULLS LAST) - 1 AS place
    FROM __kanon_histogram_0 GROUP BY label
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
__kanon_model_0 AS MATERIALIZED (
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
),
__kanon_whose AS MATERIALIZED (
    SELECT combination, entity, count(*) AS size
    FROM (SELECT combination, unnest(cells).whose AS entity FROM __kanon_sets)
    GROUP BY combination, entity
),
__kanon_sizes AS MATERIALIZED (
    SELECT sum(size)::BIGINT AS __kanon_size, count(*) AS crowd, max(size) AS most
    FROM __kanon_whose GROUP BY combination
),
__kanon_persons AS (
    SELECT count(*) AS persons, count(*) FILTER (WHERE places > 1) AS scattered,
           count(*) FILTER (WHERE entity IS NULL) AS nobody,
           coalesce(max("rows"), 0)::BIGINT AS most_rows
    FROM (SELECT entity, count(*) AS places, sum(size) AS "rows" FROM __kanon_whose GROUP BY entity)
),
__kanon_found AS (
    SELECT 0 AS place, 'disease'::VARCHAR AS sensitive,
           (SELECT system.main.min(has) FROM __kanon_model_0)::BIGINT AS l_distinct, (SELECT system.main.min(has) FROM __kanon_model_1) AS l_entropy,
           (SELECT system.main.max(has) FROM __kanon_model_2) AS c, (SELECT system.main.max(has) FROM __kanon_model_3) AS t, (SELECT system.main.max(has) FROM __kanon_model_4) AS alpha,
           (SELECT system.main.max(has) FROM __kanon_model_5) AS delta, (SELECT system.main.max(has) FROM __kanon_model_6) AS beta, *
    FROM (SELECT count(*) FILTER (WHERE NOT kept) AS classes_violating,
            coalesce(sum(size) FILTER (WHERE NOT kept), 0)::BIGINT AS persons_violating
     FROM (SELECT size, bool_and(coalesce(passes, false)) AS kept
           FROM (SELECT combination, size, passes FROM __kanon_model_0)
           GROUP BY combination, size))
)
SELECT min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(__kanon_size) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       NULL::BIGINT AS k_requested,
       CASE WHEN NULL IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < NULL) END AS classes_below_k,
       CASE WHEN NULL IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < NULL), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS prosecutor_risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS prosecutor_risk_mean,
       any_value(sensitive) AS sensitive,
       any_value(l_distinct) AS l_distinct,
       any_value(l_entropy) AS l_entropy,
       any_value(c) AS c,
       any_value(t) AS t,
       any_value(alpha) AS alpha,
       any_value(delta) AS delta,
       any_value(beta) AS beta,
       any_value(classes_violating) AS classes_violating,
       any_value(persons_violating) AS persons_violating,
       any_value(persons) AS persons,
       any_value(most_rows) AS rows_per_person_max,
       min(crowd) AS k_persons,
       min(__kanon_size // most) AS k_apart,
       any_value(scattered) AS persons_in_several_classes,
       count(*) FILTER (WHERE crowd = 1) AS classes_of_one_person,
       CASE WHEN NULL IS NOT NULL
           THEN count(*) FILTER (WHERE crowd < NULL) END AS classes_below_k_persons,
       1.0::DOUBLE / min(crowd) AS prosecutor_risk_max_persons
FROM __kanon_persons CROSS JOIN __kanon_found CROSS JOIN __kanon_unshadowed LEFT JOIN __kanon_sizes ON true
WHERE __kanon_unshadowed.passed AND CASE
        WHEN EXISTS (SELECT 1 FROM duckdb_columns() WHERE list_contains(from_json('["patients"]', '["VARCHAR"]'), __kanon_caseless(table_name)) AND __kanon_declares(comment) AND NOT list_contains(from_json('[]', '["VARCHAR"]'), concat( database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment)) AND NOT list_contains(from_json('["age", "disease", "name"]', '["VARCHAR"]'), __kanon_caseless(column_name)))
            THEN __kanon_refuse('OptionError', 'The column comments of "patients" declare roles that are not committed yet. Commit first, or give these columns their roles in the call.')
        WHEN nobody > 0
            THEN __kanon_refuse('DataError', 'The column ''name'' is NULL in some rows, which belong to no person. Fill it, or leave these rows out.')
        ELSE true END
GROUP BY place
ORDER BY place ASC
