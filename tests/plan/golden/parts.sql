-- anonymize('patients', k := 4, quasi_identifiers := ['age', 'zip'], sensitive := ['disease'], others := 'drop', within := ['job'], l := 2, t := 0.5, suppress := 0.1, seed := 7)
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
__kanon_read AS MATERIALIZED (  -- each row, its number, and what breaks ties
    SELECT row_number() OVER () AS __kanon_row,
           {'apart': (md5_number(concat('7 ', __kanon_row_text(row(*COLUMNS(__kanon.* EXCLUDE ("disease", "job")))))) >> 64)::UBIGINT,
            'whole': (md5_number(concat('7 ', __kanon_row_text(row((md5_number(concat('7 ', __kanon_row_text(row(*COLUMNS(__kanon.* EXCLUDE ("disease", "job")))))) >> 64)::UBIGINT, __kanon."disease")))) >> 64)::UBIGINT} AS __kanon_hash,
           NULL::BIGINT AS __kanon_part,
           COLUMNS(['age', 'zip', 'disease', 'job']),
           __kanon_key_hash(COLUMNS(__kanon.* EXCLUDE ("age", "zip", "disease", "job")))
    FROM "patients" AS __kanon
    WHERE __kanon_has(COLUMNS(['age', 'zip', 'disease', 'job']))
),
__kanon_source AS NOT MATERIALIZED (SELECT "__kanon_row", "__kanon_hash", "__kanon_part", COLUMNS(['age', 'zip', 'disease', 'job']) FROM __kanon_read),
__kanon_taking AS (  -- the rows that take part
    FROM __kanon_source
),
__kanon_found AS MATERIALIZED (  -- the combinations that are there
    SELECT count(*) AS "rows", NULL::BIGINT AS persons, any_value("job") AS __kanon_of_0, __kanon_seen("job") AS __kanon_seen_0, __kanon_printed("job") AS __kanon_printed_0
    FROM __kanon_taking GROUP BY ALL
),
__kanon_numbered AS MATERIALIZED (  -- their numbers, and which of them are too small
    SELECT row_number() OVER (ORDER BY __kanon_letters(__kanon_of_0) ASC NULLS LAST, __kanon_of_0 ASC NULLS LAST, encode(__kanon_of_0::VARCHAR) ASC NULLS LAST) AS number, "rows" < 4 AS small, *
    FROM __kanon_found
),
__kanon_parts AS MATERIALIZED (  -- what becomes of them; -1 is left out, 0 put together
    SELECT *, false AS joined FROM __kanon_numbered
),
__kanon_kept AS NOT MATERIALIZED (  -- the rows that take part, read anew by each, not held twice
    SELECT __kanon_taking.* REPLACE (__kanon_parts.number AS __kanon_part)
    FROM __kanon_taking JOIN __kanon_parts
        ON __kanon_seen(__kanon_taking."job") IS NOT DISTINCT FROM __kanon_seen_0 AND __kanon_printed(__kanon_taking."job") IS NOT DISTINCT FROM __kanon_printed_0
),
__kanon_columns AS (  -- name and type of each quasi-identifier
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(COLUMNS(['age', 'zip']))
          FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_source WHERE false) AS __kanon_none ON true))
),
__kanon_names AS MATERIALIZED (  -- the names of all columns
    SELECT [*COLUMNS(*)] AS names
    FROM (SELECT __kanon_name(COLUMNS(* EXCLUDE (__kanon_row, __kanon_hash, __kanon_part)))
          FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_source WHERE false) AS __kanon_none ON true))
),
__kanon_accounted AS MATERIALIZED (  -- every column has a role, and the planner saw all of them
    SELECT CASE
        WHEN (SELECT list_filter(names, lambda name: starts_with(__kanon_caseless(name), '__kanon_'))[1] FROM __kanon_names) IS NOT NULL
            THEN __kanon_refuse('OptionError', format('The relation has a column ''{}'', a name that the query needs for itself. Rename it first.', (SELECT list_filter(names, lambda name: starts_with(__kanon_caseless(name), '__kanon_'))[1] FROM __kanon_names)))
        WHEN EXISTS (SELECT 1 FROM duckdb_columns() WHERE list_contains(from_json('["patients"]', '["VARCHAR"]'), __kanon_caseless(table_name)) AND __kanon_declares(comment) AND NOT list_contains(from_json('[]', '["VARCHAR"]'), concat( database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment)) AND NOT list_contains(from_json('["age", "zip", "disease", "job"]', '["VARCHAR"]'), __kanon_caseless(column_name)))
            THEN __kanon_refuse('OptionError', 'The column comments of "patients" declare roles that are not committed yet. Commit first, or give these columns their roles in the call.')
        WHEN (SELECT count(*) > 0 FROM __kanon_parts WHERE small)
            THEN __kanon_refuse('DataError', ( SELECT format('Parts that are too small: {} of {}, with {} rows in all. Each has fewer than 4 rows. Say small_parts=''join'' or small_parts=''suppress'', or name fewer columns in within.', count(*) FILTER (WHERE small), count(*), coalesce(sum("rows") FILTER (WHERE small), 0)::BIGINT) FROM __kanon_parts))
        ELSE true END AS passed
),
__kanon_cells AS (  -- the quasi-identifiers of each row, as numbers and categories
    SELECT __kanon_row,
           __kanon_hash.apart AS __kanon_apart,
           __kanon_hash.whole AS __kanon_hash,
           __kanon_label, __kanon_secrets, __kanon_extra, cells
    FROM (SELECT COLUMNS(['__kanon_row', '__kanon_hash', '__kanon_label', '__kanon_secrets',
                          '__kanon_extra']),
                 [*COLUMNS(* EXCLUDE (__kanon_row, __kanon_hash, __kanon_label, __kanon_secrets,
                                      __kanon_extra))] AS cells
          FROM (SELECT __kanon_row, __kanon_hash, NULL::VARCHAR AS __kanon_label,
                       [{'number': (__kanon_cell("disease")).number, 'category': __kanon_key("disease")}, {'number': __kanon_part::DOUBLE, 'category': NULL::VARCHAR}] AS __kanon_secrets, NULL::DOUBLE AS __kanon_extra,
                       __kanon_cell(COLUMNS(['age', 'zip']))
                FROM __kanon_kept
                WHERE (SELECT passed FROM __kanon_accounted)))
),
__kanon_begun AS MATERIALIZED (  -- announces the work: a ticket out
    SELECT __kanon_start(
        (SELECT columns FROM __kanon_columns),
        (SELECT [__kanon_describe("disease"), __kanon_describe(__kanon_part)] FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_source WHERE false) AS __kanon_none ON true)),
        '{"named": null, "parts": "whole", "precise": true, "progress": true, "task": {"beside_k": [{"column": "disease", "l": 2, "name": "distinct_l_diversity", "nulls": "worst"}, {"column": "disease", "distance": null, "name": "t_closeness", "nulls": "worst", "t": 0.5}], "block_rows": null, "class_label": null, "distance": "sse", "k": 4, "loss": "range_flat", "method": "mdav_star", "nulls": "value", "own": {}, "refine": "none", "refine_seconds": null, "refine_steps": null, "seed": 7, "sensitive_values": [], "suppress": 0.1, "weights": {}}}',
        NULL,
        NULL,
        [],
        [],
        (SELECT [*COLUMNS(*)] FROM (SELECT __kanon_keys(COLUMNS(* EXCLUDE (__kanon_row, __kanon_least)), __kanon_row, __kanon_least) FROM (SELECT __kanon_row, __kanon_least, COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "__kanon_part", "age", "zip", "disease", "job")) FROM (SELECT NULL::UBIGINT AS __kanon_none, * FROM __kanon_read) CROSS JOIN (SELECT 18446744073709551615 - 18446744073709551615 // greatest( 1, count(*) // 10000)::UBIGINT AS __kanon_least FROM __kanon_read)))),
        system.main.current_setting('threads'),
        false,
        (SELECT count(*) FROM __kanon_source),
        system.main.current_setting('memory_limit')) AS ticket
    FROM __kanon_accounted WHERE passed
),
__kanon_taken AS MATERIALIZED (  -- hands over the rows, some thousands at a time; the ticket again
    SELECT coalesce(
        max(__kanon_take(
            __kanon_begun.ticket, __kanon_row, __kanon_apart, __kanon_hash, cells,
            __kanon_label, __kanon_secrets, __kanon_extra)),
        (SELECT ticket FROM __kanon_begun)) AS ticket
    FROM __kanon_cells CROSS JOIN __kanon_begun
    WHERE __kanon_begun.ticket >= 0  -- else it is refused already: too many rows for the memory
),
__kanon_waited AS MATERIALIZED (  -- asks in turns whether it is done, so that an interrupt is heard
    SELECT turn FROM range(1000000000000) AS __kanon_turns(turn) CROSS JOIN __kanon_taken
    WHERE __kanon_wait(ticket, turn) LIMIT 1
),
__kanon_grouped AS MATERIALIZED (  -- what the method made of the rows
    SELECT ticket,
           CASE WHEN grouped.error IS NULL THEN grouped
                ELSE __kanon_refuse(grouped.error.kind, grouped.error.sentence) END AS grouped
    FROM (SELECT ticket, __kanon_finish(ticket, turn) AS grouped
          FROM __kanon_taken CROSS JOIN __kanon_waited)
),
__kanon_labels AS (  -- one class per row that has a label; -1 is a suppressed row
    FROM (SELECT __kanon_row, __kanon_class_of(__kanon_grouped.ticket, __kanon_row) AS __kanon_class
          FROM __kanon_kept CROSS JOIN __kanon_grouped)
    WHERE __kanon_class IS NOT NULL
),
__kanon_labelled AS NOT MATERIALIZED (  -- the rows of classes: read anew by each, not held twice
    FROM (SELECT __kanon_class_of(__kanon_grouped.ticket, __kanon_kept.__kanon_row) AS __kanon_class,
                 __kanon_kept.*
          FROM __kanon_kept CROSS JOIN __kanon_grouped)
    WHERE __kanon_class >= 0
),
__kanon_classes AS MATERIALIZED (  -- what each class releases
    SELECT * FROM (SELECT __kanon_class, __kanon_precise(
        COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions")), COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions")), __kanon_steps(__kanon_precisions, __kanon_caseless(__kanon_name(COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions"))))))
    FROM (SELECT __kanon_class, __kanon_rounded(COLUMNS(* EXCLUDE ("__kanon_class")), system.main.min(COLUMNS(* EXCLUDE ("__kanon_class"))), system.main.max(COLUMNS(* EXCLUDE ("__kanon_class")))) FROM (SELECT __kanon_class, __kanon_value(COLUMNS(['age', 'zip'])) FROM __kanon_labelled ORDER BY __kanon_class ASC) GROUP BY __kanon_class) CROSS JOIN (SELECT grouped.precisions AS __kanon_precisions FROM __kanon_grouped))
    JOIN (SELECT __kanon_class, any_value("job") AS "job" FROM __kanon_labelled GROUP BY __kanon_class)
        USING (__kanon_class)
),
__kanon_numbers AS MATERIALIZED (  -- rows per class, and of those that are left out
    SELECT __kanon_class, count(*) AS __kanon_rows FROM __kanon_labels GROUP BY __kanon_class
),
__kanon_counts AS (  -- rows per class
    FROM __kanon_numbers WHERE __kanon_class >= 0
),
__kanon_sizes AS MATERIALIZED (  -- rows per combination of released values
    SELECT sum(__kanon_rows)::BIGINT AS __kanon_size, __kanon_seen(COLUMNS(* EXCLUDE (__kanon_class, __kanon_rows))), __kanon_printed(COLUMNS(* EXCLUDE (__kanon_class, __kanon_rows)))
    FROM __kanon_classes JOIN __kanon_counts USING (__kanon_class)
    GROUP BY ALL
),
__kanon_left AS MATERIALIZED (
    SELECT part, count(*) AS "rows", count(*) FILTER (WHERE __kanon_class < 0) AS "out"
    FROM (SELECT __kanon_kept.__kanon_part AS part,
                 __kanon_class_of(__kanon_grouped.ticket, __kanon_kept.__kanon_row) AS __kanon_class
          FROM __kanon_kept CROSS JOIN __kanon_grouped)
    GROUP BY part
),
__kanon_strayed AS MATERIALIZED (
    SELECT count(*) AS strayed
    FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class)
    WHERE __kanon_labelled.__kanon_part < 0 OR NOT (__kanon_seen(__kanon_labelled."job") IS NOT DISTINCT FROM __kanon_seen(__kanon_classes."job") AND __kanon_printed(__kanon_labelled."job") IS NOT DISTINCT FROM __kanon_printed(__kanon_classes."job"))
),
__kanon_combinations AS MATERIALIZED (
    SELECT unnest(__kanon_members) AS __kanon_class, __kanon_combination
    FROM (SELECT list(__kanon_class) AS __kanon_members,
                 min(__kanon_class) AS __kanon_combination, __kanon_seen(COLUMNS(* EXCLUDE (__kanon_class))), __kanon_printed(COLUMNS(* EXCLUDE (__kanon_class)))
          FROM __kanon_classes GROUP BY ALL)
),
__kanon_histogram_0 AS MATERIALIZED (  -- rows of each value in each combination
    SELECT __kanon_labelled.__kanon_part AS part, __kanon_combination AS combination, decode(encode(__kanon_key("disease"))) AS label,
           min(__kanon_value("disease")) AS sorted, min((__kanon_cell("disease")).number) AS number,
           count(*) AS size
    FROM __kanon_labelled JOIN __kanon_combinations USING (__kanon_class)
    GROUP BY __kanon_labelled.__kanon_part, __kanon_combination, decode(encode(__kanon_key("disease")))
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
__kanon_line_1 AS MATERIALIZED (  -- of each value: rows with it or a lower one, and sums of these
    SELECT part, place, whole, upto, position, gap,
           coalesce(system.main.sum(upto) OVER lower, 0) AS area,
           coalesce(system.main.sum(upto::DOUBLE / whole * gap) OVER lower, 0) AS moment
    FROM (SELECT part, place, position, upto::HUGEINT AS upto, whole::HUGEINT AS whole,
                 coalesce(system.main.min(position) OVER (
                     PARTITION BY part ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING), position)
                     - position AS gap
          FROM (SELECT part, place, 0 AS position, system.main.sum(many) OVER (PARTITION BY part ) AS whole,
                       system.main.sum(many) OVER (PARTITION BY part ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS upto
                FROM __kanon_domain_0 WHERE label IS NOT NULL AND (SELECT bool_or(ordered) FROM __kanon_whole_0)))
    WINDOW lower AS (PARTITION BY part ORDER BY place ASC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
__kanon_own_1 AS (  -- of each value of a combination: its rows with it or a lower one
    SELECT part, combination, place, position, area, moment, whole,
           seen::HUGEINT AS seen, total::HUGEINT AS total,
           coalesce(system.main.min(place) OVER next, last_place) AS next_place,
           coalesce(system.main.min(position) OVER next, last_position) AS next_position,
           coalesce(system.main.min(area) OVER next, last_area) AS next_area,
           coalesce(system.main.min(moment) OVER next, last_moment) AS next_moment
    FROM (SELECT *, system.main.sum(size) OVER (PARTITION BY combination) AS total,
                 system.main.sum(size) OVER (
                     PARTITION BY combination ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS seen
          FROM (SELECT part, combination, place, size FROM __kanon_placed_0 WHERE label IS NOT NULL AND (SELECT bool_or(ordered) FROM __kanon_whole_0))
          JOIN __kanon_line_1 USING (part, place))
    JOIN (SELECT part, max(place) AS last_place, max(position) AS last_position,
                       max(area) AS last_area, max(moment) AS last_moment
                FROM __kanon_line_1 GROUP BY part) USING (part)
    WINDOW next AS (
        PARTITION BY combination ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)
),
__kanon_parted_1 AS (  -- where the share of all rows passes that of the combination
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
    FROM __kanon_own_1 AS own
    ASOF LEFT JOIN __kanon_line_1 AS line ON own.part = line.part AND seen * own.whole // total >= line.upto
),
__kanon_moved_1 AS MATERIALIZED (  -- ranks: times total times whole; gaps: as a share
    SELECT combination,
           any_value(total) * min(area) + sum(
               level * (x - place) - total * (area_x - area)
               + total * (next_area - area_x) - level * (next_place - x)) AS ranks,
           min(moment) + sum(
               seen::DOUBLE / total * (position_x - position) - (moment_x - moment)
               + (next_moment - moment_x) - seen::DOUBLE / total * (next_position - position_x)
               ORDER BY place ASC) AS gaps
    FROM __kanon_parted_1 GROUP BY combination
),
__kanon_held_0 AS MATERIALIZED (  -- all of it at once
    SELECT part, combination, size, any_value(missing) AS missing, any_value(whole) AS whole,
           sum(greatest(0, rows_of::HUGEINT * whole - size::HUGEINT * rows_of_all)) AS above_1
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
    SELECT combination, size, passes, has FROM (
    SELECT combination, size,
           CASE WHEN absent = 0 AND steps > 0 THEN coalesce(ranks * 2::HUGEINT <= 1::HUGEINT * steps * size * whole, false)
                WHEN steps <= 0 AND absent = 0 THEN true
                ELSE away <= 0.5::DOUBLE - 1e-12 END AS passes,
           CASE WHEN absent = 0 AND steps > 0 AND steps > 0
                THEN ranks::DOUBLE / (steps::DOUBLE * size * whole) ELSE away END AS has
    FROM (SELECT *, abs(missing / size - absent / whole) + least(
                     1 - missing / size, 1 - absent / whole) * coalesce(CASE WHEN steps > 0 THEN ranks::DOUBLE / (steps::DOUBLE * (size - missing) * (whole - absent)) END, 0) AS away
          FROM (SELECT part, combination, size::HUGEINT AS size, missing::DOUBLE AS missing
                FROM __kanon_spread_0)
          JOIN (SELECT part, many::HUGEINT AS whole, different - 1 AS steps,
                             missing::DOUBLE AS absent
                      FROM __kanon_whole_0) USING (part)
          LEFT JOIN __kanon_moved_1 USING (combination))
    ) WHERE (SELECT bool_or(ordered) FROM __kanon_whole_0)
    UNION ALL
    SELECT combination, size, passes, has FROM (
    SELECT combination, size::HUGEINT AS size, above_1 * 2::HUGEINT <= 1::HUGEINT * size::HUGEINT * whole AS passes,
           above_1::DOUBLE / (size::DOUBLE * whole) AS has
    FROM __kanon_held_0
    ) WHERE NOT (SELECT bool_or(ordered) FROM __kanon_whole_0)
),
__kanon_models AS MATERIALIZED (
    SELECT 0 AS model, system.main.min(has) AS has, (SELECT count(*) FROM __kanon_sizes)
    - (SELECT count(*) FILTER (WHERE passes) FROM __kanon_model_0) AS broken FROM __kanon_model_0
    UNION ALL
    SELECT 1 AS model, system.main.max(has) AS has, (SELECT count(*) FROM __kanon_sizes)
    - (SELECT count(*) FILTER (WHERE passes) FROM __kanon_model_1) AS broken FROM __kanon_model_1
),
__kanon_check AS MATERIALIZED (  -- nothing comes out unless this passes
    SELECT CASE
        WHEN NOT (SELECT passed FROM __kanon_unshadowed) THEN false
        WHEN NOT (SELECT passed FROM __kanon_accounted) THEN false
        WHEN (SELECT strayed > 0 FROM __kanon_strayed)
            THEN __kanon_refuse('ReleaseError', format('The release was stopped: {} rows are in a class of another part. Nothing was released; please report this as a bug of the method mdav_star.', (SELECT strayed FROM __kanon_strayed)))
        WHEN min(__kanon_size) < 4
            THEN __kanon_refuse('ReleaseError', format('The release was stopped: a class of released values has {} rows, fewer than k = 4. Nothing was released; please report this as a bug of the method mdav_star.', min(__kanon_size)))
        WHEN coalesce((SELECT broken FROM __kanon_models WHERE model = 0), 1) > 0 THEN __kanon_refuse('ReleaseError', concat( 'The release was stopped: ', (SELECT broken FROM __kanon_models WHERE model = 0), ' of its classes don''t keep distinct_l_diversity with l = 2 for the column ''disease''. Nothing was released; please report this as a bug of the method mdav_star.'))
        WHEN coalesce((SELECT broken FROM __kanon_models WHERE model = 1), 1) > 0 THEN __kanon_refuse('ReleaseError', concat( 'The release was stopped: ', (SELECT broken FROM __kanon_models WHERE model = 1), ' of its classes don''t keep t_closeness with t = 0.5 for the column ''disease''. Nothing was released; please report this as a bug of the method mdav_star.'))
        WHEN [coalesce(sum(__kanon_size), 0) + any_value(__kanon_out),
              any_value(__kanon_label_count), any_value(__kanon_once)]
             <> [any_value(__kanon_kept_count), any_value(__kanon_kept_count), any_value(__kanon_kept_count)]
            THEN __kanon_refuse('ReleaseError', format(
                'The release was stopped: it has {} rows of {} to be released, {} of them once. Nothing was released; please report this as a bug.',
                CASE WHEN coalesce(sum(__kanon_size), 0) + any_value(__kanon_out) <> any_value(__kanon_kept_count)
                    THEN coalesce(sum(__kanon_size), 0)::BIGINT
                    ELSE any_value(__kanon_label_count) - any_value(__kanon_out) END,
                any_value(__kanon_kept_count) - any_value(__kanon_out),
                any_value(__kanon_once) - any_value(__kanon_out)))
        WHEN (SELECT coalesce(bool_or("out" > floor(0.1::DOUBLE * "rows")), false) FROM __kanon_left WHERE part >= 0)
            THEN __kanon_refuse(
                'ReleaseError', format('The release was stopped: it leaves out {} rows, more than suppress = 0.1 allows. Nothing was released; please report this as a bug of the method mdav_star.', any_value(__kanon_out)::BIGINT))
        ELSE true END AS passed
    FROM (SELECT coalesce(sum(__kanon_rows), 0)::BIGINT AS __kanon_once,
                 coalesce(sum(__kanon_rows) FILTER (WHERE __kanon_class < 0), 0)::BIGINT
                     AS __kanon_out
          FROM __kanon_numbers)
    CROSS JOIN (SELECT grouped.rows AS __kanon_label_count FROM __kanon_grouped)
    CROSS JOIN (SELECT count(*) AS __kanon_kept_count FROM __kanon_kept)
    LEFT JOIN __kanon_sizes ON true
),
__kanon_released AS NOT MATERIALIZED (  -- columns in their old order
    (SELECT __kanon_blank(COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "__kanon_part"))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT __kanon_classes.* EXCLUDE (__kanon_class), __kanon_labelled."disease"
     FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class))
)
SELECT __kanon_without_statistics(COLUMNS(__kanon.*))
FROM __kanon_released AS __kanon, __kanon_check
WHERE __kanon_check.passed
ORDER BY md5(concat('7 ', __kanon_row_text(row(*COLUMNS(__kanon.*))))) ASC
