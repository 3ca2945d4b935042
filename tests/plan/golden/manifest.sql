-- anonymize_manifest('patients', k := 4, identifiers := ['name'], sensitive := ['disease'], alpha := {'Flu': 0.9}, hierarchies := {'zip': 'levels', 'age': {'kind': 'bins', 'width': 10}}, seed := 7)
WITH __kanon_started AS MATERIALIZED (SELECT __kanon_clock(0) AS __kanon_moment),
__kanon_unshadowed AS MATERIALIZED (  -- refuses macros and settings that would change what follows
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
__kanon_source AS MATERIALIZED (  -- each row, its number, and what breaks ties
    SELECT row_number() OVER () AS __kanon_row,
           {'apart': (md5_number(concat('7 ', __kanon_row_text(row(*COLUMNS(__kanon.* EXCLUDE ("disease")))))) >> 64)::UBIGINT,
            'whole': (md5_number(concat('7 ', __kanon_row_text(row((md5_number(concat('7 ', __kanon_row_text(row(*COLUMNS(__kanon.* EXCLUDE ("disease")))))) >> 64)::UBIGINT, __kanon."disease")))) >> 64)::UBIGINT} AS __kanon_hash,
           __kanon.*
    FROM "patients" AS __kanon, __kanon_started
    WHERE __kanon_has(COLUMNS(['disease', 'name']))
),
__kanon_kept AS (  -- the rows that take part
    FROM __kanon_source
),
__kanon_tree_1 AS MATERIALIZED (  -- the labels of each leaf, from itself up to the root
    SELECT CASE WHEN tree.error IS NULL THEN tree.paths
                ELSE __kanon_refuse(tree.error.kind, tree.error.sentence) END AS paths
    FROM (SELECT __kanon_tree(
        (SELECT list({'value': decode(value), 'count': size})
         FROM (SELECT encode(__kanon_key("zip")) AS value, count(*) AS size
               FROM __kanon_kept GROUP BY ALL)),
        (SELECT any_value(typeof("zip")) FROM __kanon_kept),
        (SELECT any_value(names) FROM (SELECT [*COLUMNS(*)] AS names FROM (SELECT __kanon_name(COLUMNS(*)) FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM "levels" WHERE false) AS __kanon_none ON true)))),
        (SELECT list(cells) FROM (SELECT [*COLUMNS(*)] AS cells FROM (SELECT __kanon_key(COLUMNS(*)) FROM "levels"))),
        '{"column": "zip", "relation": "\"levels\"", "show_values": false}') AS tree)
),
__kanon_tree_2 AS MATERIALIZED (  -- the labels of each leaf, from itself up to the root
    SELECT CASE WHEN tree.error IS NULL THEN tree.paths
                ELSE __kanon_refuse(tree.error.kind, tree.error.sentence) END AS paths
    FROM (SELECT __kanon_tree(
        (SELECT list({'value': decode(value), 'count': size})
         FROM (SELECT encode(__kanon_key("age")) AS value, count(*) AS size
               FROM __kanon_kept GROUP BY ALL)),
        (SELECT any_value(typeof("age")) FROM __kanon_kept),
        NULL,
        NULL,
        '{"column": "age", "kind": "bins", "show_values": false, "width": 10}') AS tree)
),
__kanon_columns AS (  -- name and type of each quasi-identifier
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "disease", "name")))
          FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM (SELECT * REPLACE (__kanon_key("zip") AS "zip", __kanon_key("age") AS "age") FROM __kanon_source) WHERE false) AS __kanon_none ON true))
),
__kanon_names AS MATERIALIZED (  -- the names of all columns
    SELECT [*COLUMNS(*)] AS names
    FROM (SELECT __kanon_name(COLUMNS(* EXCLUDE (__kanon_row, __kanon_hash)))
          FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_source WHERE false) AS __kanon_none ON true))
),
__kanon_accounted AS MATERIALIZED (  -- every column has a role, and the planner saw all of them
    SELECT CASE
        WHEN (SELECT list_filter(names, lambda name: starts_with(__kanon_caseless(name), '__kanon_'))[1] FROM __kanon_names) IS NOT NULL
            THEN __kanon_refuse('OptionError', format('The relation has a column ''{}'', a name that the query needs for itself. Rename it first.', (SELECT list_filter(names, lambda name: starts_with(__kanon_caseless(name), '__kanon_'))[1] FROM __kanon_names)))
        WHEN EXISTS (SELECT 1 FROM duckdb_columns() WHERE list_contains(from_json('["patients"]', '["VARCHAR"]'), __kanon_caseless(table_name)) AND __kanon_declares(comment) AND NOT list_contains(from_json('[]', '["VARCHAR"]'), concat( database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment)) AND NOT list_contains(from_json('["disease", "name"]', '["VARCHAR"]'), __kanon_caseless(column_name)))
            THEN __kanon_refuse('OptionError', 'The column comments of "patients" declare roles that are not committed yet. Commit first, or give these columns their roles in the call.')
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
                       [{'number': (__kanon_cell("disease")).number, 'category': __kanon_key("disease")}] AS __kanon_secrets, NULL::DOUBLE AS __kanon_extra,
                       __kanon_cell(COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "disease", "name")))
                FROM (SELECT * REPLACE (__kanon_key("zip") AS "zip", __kanon_key("age") AS "age") FROM __kanon_kept)
                WHERE (SELECT passed FROM __kanon_accounted)))
),
__kanon_begun AS MATERIALIZED (  -- announces the work: a ticket out
    SELECT __kanon_start(
        (SELECT columns FROM __kanon_columns),
        (SELECT [__kanon_describe("disease")] FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_source WHERE false) AS __kanon_none ON true)),
        '{"least": 4, "measured": true, "named": ["age", "zip"], "precise": true, "progress": true, "task": {"beside_k": [{"alpha": null, "by_value": [["Flu", 0.9]], "column": "disease", "name": "alpha_k_anonymity", "nulls": "worst"}], "block_rows": null, "class_label": null, "distance": "sse", "k": 4, "loss": "range_flat", "method": "auto", "nulls": "value", "own": {}, "refine": "by estimate", "refine_seconds": null, "refine_steps": null, "seed": 7, "sensitive_values": [], "suppress": 0.0, "weights": {}}}',
        [{'name': 'zip', 'paths': (SELECT paths FROM __kanon_tree_1)}, {'name': 'age', 'paths': (SELECT paths FROM __kanon_tree_2)}],
        NULL,
        [],
        [(SELECT list_concat(['name'], list_transform( list_filter([*COLUMNS(*)], lambda known: __kanon_is_constant(known)), lambda known: known.name)) FROM (SELECT __kanon_of_persons(COLUMNS(* EXCLUDE (__kanon_whose)), 2) FROM (SELECT __kanon_whose, __kanon_of_person(COLUMNS(* EXCLUDE (__kanon_whose))) FROM (SELECT __kanon_hash_of("name") AS __kanon_whose, COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "disease", "name")) FROM __kanon_source WHERE "name" IS NOT NULL AND __kanon_hash_of("name") % greatest(1, (SELECT count(*) FROM __kanon_source) // 50000)::UBIGINT = 0) GROUP BY __kanon_whose)))],
        NULL,
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
    SELECT __kanon_class, __kanon_shown(COLUMNS(* EXCLUDE (__kanon_class, __kanon_hidden)), __kanon_hidden)
    FROM (WITH __kanon_leaves_1 AS MATERIALIZED (  -- those below a node side by side; encoded: without collation
    SELECT path, encode(path[1]) AS leaf, place
    FROM (SELECT unnest(paths) AS path, generate_subscripts(paths, 1) AS place FROM __kanon_tree_1)
),
__kanon_spans_1 AS (  -- the first and last leaf of each class; NULL is a leaf below the root
    SELECT __kanon_class, count(*) AS total, count(__kanon_leaves_1.place) AS known,
           min(__kanon_leaves_1.place) AS low, max(__kanon_leaves_1.place) AS high
    FROM __kanon_labelled LEFT JOIN __kanon_leaves_1 
        ON encode(__kanon_key(__kanon_labelled."zip")) = __kanon_leaves_1.leaf
    GROUP BY __kanon_class
),
__kanon_ancestors_1 AS (
    SELECT __kanon_class, CASE
        WHEN span.known = 0 THEN NULL
        WHEN span.known < span.total THEN low.path[len(low.path)]
        ELSE low.path[list_filter(
            range(1, len(low.path) + 1),
            lambda level: encode(low.path[level]) = encode(high.path[level]))[1]] END AS label
    FROM __kanon_spans_1 AS span
    LEFT JOIN __kanon_leaves_1 AS low ON low.place = span.low
    LEFT JOIN __kanon_leaves_1 AS high ON high.place = span.high
),
__kanon_leaves_2 AS MATERIALIZED (  -- those below a node side by side; encoded: without collation
    SELECT path, encode(path[1]) AS leaf, place
    FROM (SELECT unnest(paths) AS path, generate_subscripts(paths, 1) AS place FROM __kanon_tree_2)
),
__kanon_spans_2 AS (  -- the first and last leaf of each class; NULL is a leaf below the root
    SELECT __kanon_class, count(*) AS total, count(__kanon_leaves_2.place) AS known,
           min(__kanon_leaves_2.place) AS low, max(__kanon_leaves_2.place) AS high
    FROM __kanon_labelled LEFT JOIN __kanon_leaves_2 
        ON encode(__kanon_key(__kanon_labelled."age")) = __kanon_leaves_2.leaf
    GROUP BY __kanon_class
),
__kanon_ancestors_2 AS (
    SELECT __kanon_class, CASE
        WHEN span.known = 0 THEN NULL
        WHEN span.known < span.total THEN low.path[len(low.path)]
        ELSE low.path[list_filter(
            range(1, len(low.path) + 1),
            lambda level: encode(low.path[level]) = encode(high.path[level]))[1]] END AS label
    FROM __kanon_spans_2 AS span
    LEFT JOIN __kanon_leaves_2 AS low ON low.place = span.low
    LEFT JOIN __kanon_leaves_2 AS high ON high.place = span.high
)
SELECT _plain.* REPLACE (__kanon_ancestors_1.label AS "zip", __kanon_ancestors_2.label AS "age")
    FROM (SELECT __kanon_class, __kanon_precise(
        COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions")), COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions")), __kanon_steps(__kanon_precisions, __kanon_caseless(__kanon_name(COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions"))))))
    FROM (SELECT __kanon_class, __kanon_rounded(COLUMNS(* EXCLUDE ("__kanon_class")), system.main.min(COLUMNS(* EXCLUDE ("__kanon_class"))), system.main.max(COLUMNS(* EXCLUDE ("__kanon_class")))) FROM (SELECT __kanon_class, __kanon_value(COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_row", "__kanon_hash", "disease", "name"))) FROM (SELECT * REPLACE (0 AS "zip", 0 AS "age") FROM __kanon_labelled) ORDER BY __kanon_class ASC) GROUP BY __kanon_class) CROSS JOIN (SELECT grouped.precisions AS __kanon_precisions FROM __kanon_grouped)) AS _plain
    JOIN __kanon_ancestors_1 USING (__kanon_class)
    JOIN __kanon_ancestors_2 USING (__kanon_class))
    CROSS JOIN (SELECT list_transform(grouped.hidden, lambda name: __kanon_caseless(name)) AS __kanon_hidden
                FROM __kanon_grouped)
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
__kanon_combinations AS MATERIALIZED (
    SELECT unnest(__kanon_members) AS __kanon_class, __kanon_combination
    FROM (SELECT list(__kanon_class) AS __kanon_members,
                 min(__kanon_class) AS __kanon_combination, __kanon_seen(COLUMNS(* EXCLUDE (__kanon_class))), __kanon_printed(COLUMNS(* EXCLUDE (__kanon_class)))
          FROM __kanon_classes GROUP BY ALL)
),
__kanon_histogram_0 AS MATERIALIZED (  -- rows of each value in each combination
    SELECT __kanon_combination AS combination, decode(encode(__kanon_key("disease"))) AS label,
           min(__kanon_value("disease")) AS sorted, min((__kanon_cell("disease")).number) AS number,
           count(*) AS size
    FROM __kanon_labelled JOIN __kanon_combinations USING (__kanon_class)
    GROUP BY __kanon_combination, decode(encode(__kanon_key("disease")))
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
__kanon_held_0 AS MATERIALIZED (  -- all of it at once
    SELECT combination, size, any_value(missing) AS missing, any_value(whole) AS whole,
           bool_and((rows_of + missing) * 1000000::HUGEINT <= size * coalesce(CASE label WHEN 'Flu' THEN 900000 ELSE NULL::BIGINT END, 1000000)) FILTER (WHERE label IS NOT NULL) AS fits_0,
           max(CASE WHEN CASE label WHEN 'Flu' THEN 900000 ELSE NULL::BIGINT END IS NOT NULL THEN rows_of + missing END) FILTER (WHERE label IS NOT NULL) AS most_0
    FROM (SELECT combination, label, size, missing, rows_of, rows_of_all, whole,
                 rows_of::DOUBLE / size AS own, rows_of_all::DOUBLE / whole AS overall
          FROM (SELECT combination, label, size AS rows_of, many AS rows_of_all
                FROM __kanon_placed_0)
          JOIN (SELECT combination, size, missing FROM __kanon_spread_0) USING (combination)
          CROSS JOIN (SELECT many AS whole FROM __kanon_whole_0))
    GROUP BY combination, size
),
__kanon_model_0 AS MATERIALIZED (
    SELECT combination, size,
           coalesce(fits_0, true) AND missing * 1000000::HUGEINT <= size * 900000 AS passes,
           greatest(coalesce(most_0, 0), missing)::DOUBLE / size AS has
    FROM __kanon_held_0
),
__kanon_models AS MATERIALIZED (
    SELECT 0 AS model, system.main.max(has) AS has, (SELECT count(*) FROM __kanon_sizes)
    - (SELECT count(*) FILTER (WHERE passes) FROM __kanon_model_0) AS broken FROM __kanon_model_0
),
__kanon_check AS MATERIALIZED (  -- nothing comes out unless this passes
    SELECT CASE
        WHEN NOT (SELECT passed FROM __kanon_unshadowed) THEN false
        WHEN NOT (SELECT passed FROM __kanon_accounted) THEN false
        WHEN min(__kanon_size) < 4
            THEN __kanon_refuse('ReleaseError', format('The release was stopped: a class of released values has {} rows, fewer than k = 4. Nothing was released; please report this as a bug of the method auto.', min(__kanon_size)))
        WHEN coalesce((SELECT broken FROM __kanon_models WHERE model = 0), 1) > 0 THEN __kanon_refuse('ReleaseError', concat( 'The release was stopped: ', (SELECT broken FROM __kanon_models WHERE model = 0), ' of its classes don''t keep alpha_k_anonymity with alpha by value for the column ''disease''. Nothing was released; please report this as a bug of the method auto.'))
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
        WHEN any_value(__kanon_out) > floor(0.0::DOUBLE * any_value(__kanon_kept_count))
            THEN __kanon_refuse(
                'ReleaseError', format('The release was stopped: it leaves out {} rows, more than suppress = 0.0 allows. Nothing was released; please report this as a bug of the method auto.', any_value(__kanon_out)::BIGINT))
        ELSE true END AS passed
    FROM (SELECT coalesce(sum(__kanon_rows), 0)::BIGINT AS __kanon_once,
                 coalesce(sum(__kanon_rows) FILTER (WHERE __kanon_class < 0), 0)::BIGINT
                     AS __kanon_out
          FROM __kanon_numbers)
    CROSS JOIN (SELECT grouped.rows AS __kanon_label_count FROM __kanon_grouped)
    CROSS JOIN (SELECT count(*) AS __kanon_kept_count FROM __kanon_kept)
    LEFT JOIN __kanon_sizes ON true
),
__kanon_generalized AS MATERIALIZED (SELECT __kanon_clock(count(*)) AS moment FROM __kanon_classes),
__kanon_verified AS MATERIALIZED (SELECT __kanon_clock(passed::BIGINT) AS moment FROM __kanon_check),
__kanon_alike AS MATERIALIZED (  -- classes that release the same values, by the first of them
    SELECT unnest(__kanon_members) AS __kanon_class, __kanon_first
    FROM (SELECT list(__kanon_class) AS __kanon_members, min(__kanon_class) AS __kanon_first,
                 __kanon_seen(COLUMNS(* EXCLUDE (__kanon_class))), __kanon_printed(COLUMNS(* EXCLUDE (__kanon_class)))
          FROM __kanon_classes GROUP BY ALL)
),
__kanon_centers AS (
    SELECT __kanon_class, [*COLUMNS(* EXCLUDE (__kanon_class))] AS center
    FROM (SELECT __kanon_class, __kanon_cell(COLUMNS(* EXCLUDE (__kanon_class))) FROM (SELECT __kanon_class, __kanon_precise(
        COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions")), COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions")), __kanon_steps(__kanon_precisions, __kanon_caseless(__kanon_name(COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions"))))))
    FROM (SELECT __kanon_class, __kanon_rounded(COLUMNS(* EXCLUDE ("__kanon_class")), system.main.min(COLUMNS(* EXCLUDE ("__kanon_class"))), system.main.max(COLUMNS(* EXCLUDE ("__kanon_class")))) FROM (SELECT __kanon_class, __kanon_value(COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_row", "__kanon_hash", "disease", "name"))) FROM (SELECT * REPLACE (__kanon_key("zip") AS "zip", __kanon_key("age") AS "age") FROM __kanon_labelled) ORDER BY __kanon_class ASC) GROUP BY __kanon_class) CROSS JOIN (SELECT grouped.precisions AS __kanon_precisions FROM __kanon_grouped)))
),
__kanon_measured AS MATERIALIZED (
    SELECT __kanon_measure(
        (SELECT ticket FROM __kanon_grouped),  -- under it are the rows, which aren't held twice
        list({'row': NULL::BIGINT, 'hash': NULL::UBIGINT, 'class': __kanon_class,
              'alike': __kanon_first, 'cells': NULL, 'center': center}),
        (SELECT columns FROM __kanon_columns),
        '{"least": 4, "named": ["age", "zip"], "precise": true, "progress": true, "task": {"beside_k": [{"alpha": null, "by_value": [["Flu", 0.9]], "column": "disease", "name": "alpha_k_anonymity", "nulls": "worst"}], "block_rows": null, "class_label": null, "distance": "sse", "k": 4, "loss": "range_flat", "method": "auto", "nulls": "value", "own": {}, "refine": "by estimate", "refine_seconds": null, "refine_steps": null, "seed": 7, "sensitive_values": [], "suppress": 0.0, "weights": {}}}',
        [{'name': 'zip', 'paths': (SELECT paths FROM __kanon_tree_1)}, {'name': 'age', 'paths': (SELECT paths FROM __kanon_tree_2)}],
        '{"form": "point", "of_trees": "node", "by_column": {}}',
        (SELECT {'facts': grouped.facts, 'cells': grouped.cells, 'types': (
             SELECT [*COLUMNS(*)] FROM (SELECT typeof(COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "disease", "name"))) FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_source WHERE false) AS __kanon_none ON true)))}
         FROM __kanon_grouped),
        NULL,
        (SELECT grouped.hidden FROM __kanon_grouped)) AS measured
    FROM __kanon_centers JOIN __kanon_alike USING (__kanon_class)
),
__kanon_radii AS (
    SELECT entry.class AS __kanon_class, entry.radius AS radius
    FROM (SELECT unnest(measured.radii) AS entry FROM __kanon_measured)
),
__kanon_diversity AS (  -- what the rows of a class have in common, per combination of released values
    SELECT sum(NULL::BIGINT) AS strangers, coalesce(sum(__kanon_size) FILTER (WHERE __kanon_alike_0), 0) AS alike_0, coalesce(sum(__kanon_size) FILTER (WHERE __kanon_grave_0), 0) AS grave_0 FROM (
        SELECT count(*) AS __kanon_size, __kanon_alike("disease") AS __kanon_alike_0, NULL::BOOLEAN AS __kanon_grave_0
        FROM __kanon_labelled JOIN __kanon_alike USING (__kanon_class)
        GROUP BY __kanon_alike.__kanon_first)
),
__kanon_passing AS (  -- rows per combination of the columns that pass unchanged
    SELECT unchanged_columns,
           CASE WHEN unchanged_columns > 0 THEN uniques ELSE 0 END AS unique_in_unchanged
    FROM (SELECT count(*) FILTER (WHERE __kanon_size = 1) AS uniques
          FROM (SELECT count(*) AS __kanon_size, __kanon_seen(COLUMNS(*)), __kanon_printed(COLUMNS(*))
                FROM (SELECT NULL AS __kanon_none, "disease" FROM __kanon_labelled) GROUP BY ALL))
    CROSS JOIN (SELECT 1 AS unchanged_columns)
),
__kanon_facts AS (
    SELECT *, rows_in - rows_released AS rows_suppressed
    FROM (SELECT (SELECT count(*) FROM __kanon_source) AS rows_in,
                 sum(__kanon_size)::BIGINT AS rows_released,
                 count(*) AS classes,
                 min(__kanon_size) AS smallest,
                 max(__kanon_size) AS largest,
                 sum(__kanon_size::HUGEINT * __kanon_size)::DOUBLE AS squares,
                 (SELECT __kanon_moment FROM __kanon_started) AS started,
                 (SELECT moment FROM __kanon_generalized) AS generalized,
                 (SELECT moment FROM __kanon_verified) AS verified,
                 (SELECT grouped.facts FROM __kanon_grouped) AS grouped,
                 (SELECT measured.facts FROM __kanon_measured) AS measured,
                 NULL::BIGINT AS centers_equal_to_a_row
          FROM __kanon_sizes)
    CROSS JOIN __kanon_diversity
    CROSS JOIN __kanon_passing
),
__kanon_released AS NOT MATERIALIZED (  -- what comes out, in any order
    (SELECT __kanon_blank(COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "name"))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT __kanon_classes.* EXCLUDE (__kanon_class), __kanon_labelled."disease"
     FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class))
),
__kanon_types AS (  -- name and type of each column that comes out
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT [alias(COLUMNS(*)), __kanon_type(COLUMNS(*))]
          FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_released WHERE false) AS __kanon_none ON true))
),
__kanon_digest AS MATERIALIZED (
    SELECT CASE WHEN zoned IS NOT NULL
                THEN __kanon_refuse('DataError', format('The column ''{}'' holds times with a time zone inside of others, whose text depends on the setting TimeZone, so that no digest tells them. Release it as TIMESTAMPTZ, or cast it to VARCHAR.', zoned))
                ELSE digest END AS digest
    FROM (SELECT list_filter(columns, lambda c: regexp_matches(c[2], '.WITH TIME ZONE.+'))[1][1]
              AS zoned FROM __kanon_types)
    CROSS JOIN (SELECT (SELECT sha256(head || coalesce(array_to_string(
            list_transform(list_sort(parts, 'ASC', 'NULLS LAST'), lambda part: part.digest), ''), ''))
    FROM (SELECT array_to_string([*COLUMNS(*)], '') AS head
          FROM (SELECT strlen(alias(COLUMNS(*))) || ':' || alias(COLUMNS(*))
                    || strlen(__kanon_type(COLUMNS(*))) || ':' || __kanon_type(COLUMNS(*))
                FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_released WHERE false) AS __kanon_none ON true)))
    CROSS JOIN (
        SELECT list({'start': start, 'digest': digest}) AS parts
        FROM (SELECT digest[1:3] AS start,
                     sha256(array_to_string(list_sort(list(digest), 'ASC', 'NULLS LAST'), '')) AS digest
              FROM (SELECT sha256(concat(*COLUMNS(*))) AS digest
              FROM (SELECT CASE WHEN COLUMNS(*) IS NULL THEN '-'
                                ELSE concat(strlen(COLUMNS(*)), ':', COLUMNS(*)) END
                    FROM (SELECT __kanon_text(COLUMNS(*)) FROM __kanon_released)))
              GROUP BY digest[1:3]))) AS digest)
),
__kanon_stated AS (
    SELECT list_filter(list_concat([
    {'metric': 'rows_released', 'value': (rows_released)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': CASE WHEN rows_suppressed = 0 THEN 'every row is released' ELSE format('{:,} of {:,} rows are released', rows_released, rows_in) END::VARCHAR, 'description': 'released rows'},
    {'metric': 'k', 'value': (smallest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': format('{:,} rows or more share each combination of values', smallest)::VARCHAR, 'description': 'the k that holds, counted on the released values; at least k_requested'},
    {'metric': 'prosecutor_risk_max', 'value': (1.0::DOUBLE / smallest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'in_words': format('at most 1 chance in {:,}', smallest)::VARCHAR, 'description': 'largest chance that a prosecutor finds a person''s row: 1 / k; lower is better'},
    {'metric': 'information_loss', 'value': ((measured ->> 'information_loss')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'percent', 'in_words': format('{:.2g} % of the variance lies within classes, where it is lost', (measured ->> 'information_loss')::DOUBLE)::VARCHAR, 'description': 'share of the variance that lies within classes, 100 * sse / sst, of the released rows (thaeter2021, definition 1.5); lower is better'},
    {'metric': 'cells_generalized', 'value': ((measured ->> 'cells_generalized')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': format('{:.0f} of 100 quasi-identifier cells are generalized', 100 * (measured ->> 'cells_generalized')::DOUBLE)::VARCHAR, 'description': 'released quasi-identifier cells that do not show exactly their row''s own value; lower is better'},
    {'metric': 'rows', 'value': (rows_in)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows of the relation'},
    {'metric': 'rows_suppressed', 'value': (rows_suppressed)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows left out; rows = rows_released + rows_suppressed'},
    {'metric': 'classes', 'value': (classes)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'classes', 'in_words': NULL::VARCHAR, 'description': 'distinct combinations of released values'},
    {'metric': 'class_size_mean', 'value': (rows_released::DOUBLE / nullif(classes, 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'mean number of rows per class'},
    {'metric': 'class_size_max', 'value': (largest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows of the largest class'},
    {'metric': 'k_requested', 'value': (4)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'the requested k'},
    {'metric': 'information_loss_bound', 'value': ((measured ->> 'loss_bound')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'percent', 'in_words': CASE WHEN (measured ->> 'loss_bound')::DOUBLE > 0 AND (measured ->> 'information_loss')::DOUBLE <= (measured ->> 'loss_bound')::DOUBLE * (1 + 1e-9) THEN 'the loss is the minimum with this k' WHEN (measured ->> 'loss_bound')::DOUBLE > 0 AND (measured ->> 'loss_bound_exact')::DOUBLE = 1 THEN format('the loss is {:.2f} times the minimum with this k', (measured ->> 'information_loss')::DOUBLE / (measured ->> 'loss_bound')::DOUBLE) WHEN (measured ->> 'loss_bound')::DOUBLE > 0 THEN format('the loss is at most {:.2f} times the minimum with this k', floor(100 * (measured ->> 'information_loss')::DOUBLE / (measured ->> 'loss_bound')::DOUBLE) / 100 + 0.01) END::VARCHAR, 'description': 'an information_loss that no grouping of the rows into classes of k or more can be below, from the k - 1 nearest of each row; for one numeric column without NULLs, the optimum. NULL without detail, with an entity, a ledger, rows that the grouping left out, or within without by_part, and where rows * (k - 1) exceeds 20 million'},
    {'metric': 'sse', 'value': ((measured ->> 'sse')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'squared standard deviations', 'in_words': NULL::VARCHAR, 'description': 'sum of the squared distances of rows to the mean of their class; lower is better'},
    {'metric': 'sse_released', 'value': (NULL)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'squared standard deviations', 'in_words': NULL::VARCHAR, 'description': 'sum of the squared distances of rows to the released point, 1 for a cell whose class mixes NULL and values; NULL if the representation is not a point; lower is better'},
    {'metric': 'sst', 'value': ((measured ->> 'sst')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'squared standard deviations', 'in_words': NULL::VARCHAR, 'description': 'sse if all released rows were one class'},
    {'metric': 'max_radius', 'value': ((measured ->> 'max_radius')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'standard deviations', 'in_words': NULL::VARCHAR, 'description': 'largest distance of a row to the center of its class (aggarwal2006, definition 2.1); lower is better'},
    {'metric': 'cellular_cost', 'value': ((measured ->> 'cellular_cost')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'standard deviations', 'in_words': NULL::VARCHAR, 'description': 'sum over the classes of size times radius (aggarwal2006, section 1); lower is better'},
    {'metric': 'cost', 'value': (((measured ->> 'cost')::DOUBLE + coalesce((grouped ->> 'facility')::DOUBLE, 0)))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': '', 'in_words': NULL::VARCHAR, 'description': 'the cost that the guarantee of the method bounds: max_radius (r_gather), cellular_cost (r_cellular; for cellular plus facility costs), generalized cells, each by its share of the levels (forest, pairs, triples), or class_size_max (methods for one attribute; quadratic_penalty with objective ''quadratic''). Lower is better'},
    {'metric': 'lower_bound', 'value': (CASE WHEN (grouped ->> 'lower_bound')::DOUBLE BETWEEN ((measured ->> 'cost')::DOUBLE + coalesce((grouped ->> 'facility')::DOUBLE, 0)) AND ((measured ->> 'cost')::DOUBLE + coalesce((grouped ->> 'facility')::DOUBLE, 0)) * (1 + 1e-9) THEN ((measured ->> 'cost')::DOUBLE + coalesce((grouped ->> 'facility')::DOUBLE, 0)) ELSE (grouped ->> 'lower_bound')::DOUBLE END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': '', 'in_words': NULL::VARCHAR, 'description': 'a cost that no grouping can be below, computed in this run; published centers may be any points, or any rows with centers ''rows'''},
    {'metric': 'ratio', 'value': (CASE WHEN ((measured ->> 'cost')::DOUBLE + coalesce((grouped ->> 'facility')::DOUBLE, 0)) = 0 THEN 1 ELSE ((measured ->> 'cost')::DOUBLE + coalesce((grouped ->> 'facility')::DOUBLE, 0)) / nullif(CASE WHEN (grouped ->> 'lower_bound')::DOUBLE BETWEEN ((measured ->> 'cost')::DOUBLE + coalesce((grouped ->> 'facility')::DOUBLE, 0)) AND ((measured ->> 'cost')::DOUBLE + coalesce((grouped ->> 'facility')::DOUBLE, 0)) * (1 + 1e-9) THEN ((measured ->> 'cost')::DOUBLE + coalesce((grouped ->> 'facility')::DOUBLE, 0)) ELSE (grouped ->> 'lower_bound')::DOUBLE END, 0) END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'ratio', 'in_words': NULL::VARCHAR, 'description': 'cost / lower_bound: an upper bound of cost / optimum; 1 is best'},
    {'metric': 'guaranteed_ratio', 'value': (CASE WHEN true THEN (grouped ->> 'guaranteed_ratio')::DOUBLE END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'ratio', 'in_words': NULL::VARCHAR, 'description': 'the proven upper bound of cost / optimum; NULL if an option or blocks void the proof, if classes of one attribute release the same values, or if published centers cost more than the proof allows'},
    {'metric': 'centers_equal_to_a_row', 'value': (centers_equal_to_a_row)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'centers', 'in_words': NULL::VARCHAR, 'description': 'published centers that equal a row of the relation in all quasi-identifiers; NULL if no centers are published; lower is better'},
    {'metric': 'total_il', 'value': ((measured ->> 'released_il')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'cells', 'in_words': NULL::VARCHAR, 'description': 'Total-IL of the released values, summed over all cells; see byun2006, definitions 7 and 8 (lower is better). Numbers lose range / domain. Categories lose height of the label / height of the hierarchy, or without a hierarchy 1 for several values. The loss is 1 for a range or set that hides a NULL, for a cell without a released value, and for each cell of a suppressed row. NULL if a column is released as points, which have no range'},
    {'metric': 'ncp', 'value': (CASE WHEN rows_in * (measured ->> 'weights')::DOUBLE > 0 THEN (measured ->> 'released_il')::DOUBLE / (rows_in * (measured ->> 'weights')::DOUBLE) WHEN (measured ->> 'released_il')::DOUBLE IS NOT NULL THEN 0 END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'total_il per cell: 0 means no loss, 1 complete loss; lower is better'},
    {'metric': 'ncp_distinct', 'value': (CASE WHEN rows_in * (measured ->> 'weights')::DOUBLE > 0 THEN (measured ->> 'released_distinct')::DOUBLE / (rows_in * (measured ->> 'weights')::DOUBLE) WHEN (measured ->> 'released_distinct')::DOUBLE IS NOT NULL THEN 0 END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'as ncp, but a category loses (values - 1) / (values of the column - 1), where the values are those of the set, or with a hierarchy the mean number below a node at the level of the label; lower is better'},
    {'metric': 'entropy_loss', 'value': ((measured ->> 'released_entropy')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'bits per cell', 'in_words': NULL::VARCHAR, 'description': 'mean entropy of the values that a released cell may stand for, by their frequencies in the relation (entropy measure, Gionis and Tassa 2009); NULL if total_il is NULL; lower is better'},
    {'metric': 'total_il_grouping', 'value': (((measured ->> 'total_il')::DOUBLE + (rows_in - (measured ->> 'rows')::DOUBLE) * (measured ->> 'weights')::DOUBLE))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'cells', 'in_words': NULL::VARCHAR, 'description': 'Total-IL of the grouping, as if each class released the range of its numbers and the lowest common ancestor of its categories; a suppressed row loses every quasi-identifier; lower is better'},
    {'metric': 'ncp_grouping', 'value': (CASE WHEN rows_in * (measured ->> 'weights')::DOUBLE > 0 THEN ((measured ->> 'total_il')::DOUBLE + (rows_in - (measured ->> 'rows')::DOUBLE) * (measured ->> 'weights')::DOUBLE) / (rows_in * (measured ->> 'weights')::DOUBLE) WHEN ((measured ->> 'total_il')::DOUBLE + (rows_in - (measured ->> 'rows')::DOUBLE) * (measured ->> 'weights')::DOUBLE) IS NOT NULL THEN 0 END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'total_il_grouping per cell; lower is better'},
    {'metric': 'ncp_distinct_grouping', 'value': (CASE WHEN rows_in * (measured ->> 'weights')::DOUBLE > 0 THEN ((measured ->> 'total_distinct')::DOUBLE + (rows_in - (measured ->> 'rows')::DOUBLE) * (measured ->> 'weights')::DOUBLE) / (rows_in * (measured ->> 'weights')::DOUBLE) WHEN ((measured ->> 'total_distinct')::DOUBLE + (rows_in - (measured ->> 'rows')::DOUBLE) * (measured ->> 'weights')::DOUBLE) IS NOT NULL THEN 0 END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'as ncp_grouping, but a category loses by its number of values, as in ncp_distinct; lower is better'},
    {'metric': 'entropy_loss_grouping', 'value': ((measured ->> 'entropy_loss')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'bits per cell', 'in_words': NULL::VARCHAR, 'description': 'mean bits needed to know a released row''s value among those of its class, or of the range or node that they span, by their frequencies in the relation (non-uniform entropy, Gionis and Tassa 2009); lower is better'},
    {'metric': 'intra_cluster_distance', 'value': ((measured ->> 'intra_cluster_distance')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'cells', 'in_words': NULL::VARCHAR, 'description': 'sum over the classes of rows times the largest distance of two rows (byun2006, definition 3); NULL if classes are too large to compare all pairs; lower is better'},
    {'metric': 'discernibility', 'value': (coalesce(squares, 0) + rows_in::DOUBLE * rows_suppressed)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows squared', 'in_words': NULL::VARCHAR, 'description': 'sum of squared class sizes, plus rows for each suppressed row; lower is better'},
    {'metric': 'c_avg', 'value': (rows_released::DOUBLE / nullif(classes, 0) / 4)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'ratio', 'in_words': NULL::VARCHAR, 'description': 'mean number of rows per class / k (LeFevre et al. 2006); 1 is best'},
    {'metric': 'overfull_ratio', 'value': (largest::DOUBLE / 4)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'ratio', 'in_words': NULL::VARCHAR, 'description': 'rows of the largest class / k (du2009, section 5); 1 is best'},
    {'metric': 'quadratic_penalty', 'value': (coalesce(squares, 0) - 4 * rows_released::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows squared', 'in_words': NULL::VARCHAR, 'description': 'sum over the classes of size times (size - k) (du2009, section 1); lower is better'},
    {'metric': 'classification_metric', 'value': ((strangers + rows_in - rows_released)::DOUBLE / nullif(rows_in, 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'rows that are suppressed or whose class_label differs from the majority label of their class (Iyengar 2002); NULL without class_label; lower is better'},
    {'metric': 'unchanged_columns', 'value': (unchanged_columns)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'columns', 'in_words': NULL::VARCHAR, 'description': 'columns that are released unchanged, including the sensitive ones'},
    {'metric': 'unique_in_unchanged', 'value': (unique_in_unchanged)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': CASE WHEN unique_in_unchanged = 0 THEN 'no row is unique in them' ELSE format('{:,} rows are unique in them', unique_in_unchanged) END::VARCHAR, 'description': 'released rows that no other row equals in all unchanged columns: an attacker who knows these values of a person finds the row; lower is better'},
    {'metric': 'prosecutor_risk_mean', 'value': (classes::DOUBLE / nullif(rows_released, 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'in_words': format('1 chance in {:.3g} on average', rows_released::DOUBLE / classes)::VARCHAR, 'description': 'mean chance over the rows that a prosecutor finds a person''s row; lower is better'},
    {'metric': 'seconds_total', 'value': (verified - started + (grouped ->> 'seconds_remembered')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'seconds', 'in_words': NULL::VARCHAR, 'description': 'time from the start of the query to the end of the verification, plus seconds_group if grouping_cache is ''hit'''},
    {'metric': 'seconds_read', 'value': ((grouped ->> 'started')::DOUBLE - started)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'seconds', 'in_words': NULL::VARCHAR, 'description': 'reading and collecting the rows'},
    {'metric': 'seconds_encode', 'value': ((grouped ->> 'seconds_encode')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'seconds', 'in_words': NULL::VARCHAR, 'description': 'standardizing, coding and ordering the rows'},
    {'metric': 'seconds_group', 'value': ((grouped ->> 'seconds_group')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'seconds', 'in_words': NULL::VARCHAR, 'description': 'the method itself; if grouping_cache is ''hit'', in the call that made the groups'},
    {'metric': 'seconds_generalize', 'value': (generalized - (grouped ->> 'finished')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'seconds', 'in_words': NULL::VARCHAR, 'description': 'aggregating the released values of each class, and building the released rows'},
    {'metric': 'seconds_verify', 'value': (greatest(verified - generalized, 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'seconds', 'in_words': NULL::VARCHAR, 'description': 'counting the classes of the released rows'},
    {'metric': 'method', 'value': NULL::DOUBLE, 'text': grouped ->> 'method'::VARCHAR, 'unit': '', 'in_words': NULL::VARCHAR, 'description': 'the method that grouped the rows'},
    {'metric': 'gamma', 'value': ((grouped ->> 'gamma')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': '', 'in_words': NULL::VARCHAR, 'description': 'the gamma that v_mdav used, given or best; NULL if blocks chose different ones'},
    {'metric': 'blocks', 'value': ((grouped ->> 'blocks')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'blocks', 'in_words': NULL::VARCHAR, 'description': 'blocks that were grouped separately; 1 if all rows were grouped as one'},
    {'metric': 'spanning_degree', 'value': ((grouped ->> 'spanning_degree')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'neighbours', 'in_words': NULL::VARCHAR, 'description': 'largest degree d of the spanning tree of zip_regions, on which its guarantee depends'},
    {'metric': 'islands', 'value': ((grouped ->> 'islands')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'components', 'in_words': NULL::VARCHAR, 'description': 'components of the graph with fewer than k rows (zip_regions)'},
    {'metric': 'rows_without_place', 'value': ((grouped ->> 'rows_without_place')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows without a latitude or a longitude; they form a class (gps_rectangles)'},
    {'metric': 'island_rows', 'value': ((grouped ->> 'island_rows')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows whose code is in such a component'},
    {'metric': 'codes_unknown', 'value': ((grouped ->> 'codes_unknown')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'codes', 'in_words': NULL::VARCHAR, 'description': 'codes of the data that are not in the graph; each is a component of its own'},
    {'metric': 'refine_steps', 'value': ((grouped ->> 'refine_steps')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'steps', 'in_words': NULL::VARCHAR, 'description': 'rows that the search of effort or of the method best visited; the same number as refine_steps gives the same release'},
    {'metric': 'refine_end', 'value': NULL::DOUBLE, 'text': CASE grouped ->> 'refine_stopped' WHEN '0.0' THEN 'steps' WHEN '1.0' THEN 'seconds' END::VARCHAR, 'unit': '', 'in_words': NULL::VARCHAR, 'description': 'the limit that ended the search: ''steps'' or ''seconds'''},
    {'metric': 'grouping_cache', 'value': NULL::DOUBLE, 'text': grouped ->> 'grouping_cache'::VARCHAR, 'unit': '', 'in_words': NULL::VARCHAR, 'description': '''hit'' if the grouping of an earlier call on the same content was reused (also of a query that is planned or run twice), else ''miss'''},
    {'metric': 'options', 'value': NULL::DOUBLE, 'text': '{"alpha": {"Flu": 0.9}, "beta": null, "beta_kind": "enhanced", "block_rows": null, "c": null, "categorical": [], "class_id": false, "class_label": null, "closeness": null, "column_weights": {}, "delta": null, "distance": "sse", "diversity_kind": "distinct", "effort": "by an estimate of the time", "hierarchies": {"age": {"kind": "bins", "width": 10}, "zip": "\"levels\""}, "identifiers": ["name"], "k": 4, "keep_order": false, "l": null, "loss": "range_flat", "method": "auto", "nulls": "value", "others": "quasi_identifier", "progress": true, "quasi_identifiers": "all other columns", "refine_seconds": null, "refine_steps": null, "representation": "hierarchy, else rounded", "roles": null, "seed": null, "sensitive": ["disease"], "sensitive_nulls": "worst", "sensitive_values": [], "show_values": false, "suppress": 0.0, "t": null}'::VARCHAR, 'unit': 'JSON', 'in_words': NULL::VARCHAR, 'description': 'all options as they were used'},
    {'metric': 'seed', 'value': NULL::DOUBLE, 'text': NULL::VARCHAR, 'unit': '', 'in_words': NULL::VARCHAR, 'description': 'the seed'},
    {'metric': 'version', 'value': NULL::DOUBLE, 'text': 'kanon_sql 0.1.0, DuckDB ' || version()::VARCHAR, 'unit': '', 'in_words': NULL::VARCHAR, 'description': 'the versions of kanon_sql and DuckDB'},
    {'metric': 'homogeneous_rows', 'value': (alike_0)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'released rows whose class has only one value of the sensitive column (byun2006, definition 10); lower is better'},
    {'metric': 'homogeneous_sensitive_rows', 'value': (NULL)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'homogeneous_rows whose value is among sensitive_values; lower is better'},
    {'metric': 'alpha_requested (disease)', 'value': (NULL)::DOUBLE::DOUBLE, 'text': 'by value'::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'the requested alpha'},
    {'metric': 'alpha (disease)', 'value': ((SELECT has FROM __kanon_models WHERE model = 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'the largest share of a class that a bounded value has; at most alpha_requested; counted on the released values'},
    {'metric': 'alpha_least_class_size (disease)', 'value': ((grouped ->> 'least_size 0')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'no class of fewer rows can keep alpha, given the values of all rows'},
    {'metric': 'alpha_violating_before (disease)', 'value': ((grouped ->> 'violating 0')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'classes', 'in_words': NULL::VARCHAR, 'description': 'classes of the method that violated alpha, before they were repaired'},
    {'metric': 'constraint_loss', 'value': ((grouped ->> 'loss_with')::DOUBLE - (grouped ->> 'loss_without')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'percent; cells of k_member, or of best by loss', 'in_words': NULL::VARCHAR, 'description': 'the cost of the privacy models: information_loss (total_il_grouping for methods that minimize it) with them, minus that of the classes before'}
], list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "ncp": "DOUBLE", "words": "VARCHAR"}]'),
    lambda attribute: {
        'metric': 'ncp (' || attribute.name || ')', 'value': attribute.ncp,
        'text': NULL::VARCHAR, 'unit': 'share', 'in_words': attribute.words,
        'description': 'total_il of this quasi-identifier alone, per row, without its weight; NULL if undefined; lower is better'}
), list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "ncp": "DOUBLE", "grouping": "DOUBLE"}]'),
    lambda attribute: {
        'metric': 'ncp_grouping (' || attribute.name || ')',
        'value': (attribute.grouping * (measured ->> 'rows')::DOUBLE
                  + rows_in - (measured ->> 'rows')::DOUBLE) / rows_in,
        'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR,
        'description': 'total_il_grouping of this quasi-identifier alone, per row, without its weight; lower is better'}
), list_transform(
    from_json(grouped -> 'notices', '["VARCHAR"]'),
    lambda notice: {
        'metric': 'notice', 'value': NULL::DOUBLE, 'text': notice, 'unit': '',
        'in_words': NULL::VARCHAR, 'description': 'a fact about a column or the method to consider before the release'}
), list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "verbatim": "DOUBLE"}]'),
    lambda attribute: {
        'metric': 'original_values' || ' (' || attribute.name || ')', 'value': NULL::DOUBLE,
        'text': NULL::VARCHAR, 'unit': 'classes', 'in_words': NULL::VARCHAR,
        'description': 'classes that release a value of one of their rows, although their rows differ in this quasi-identifier; NULL if the representation is not a point; lower is better'}
), list_transform( from_json(measured -> 'attributes', '[{"name": "VARCHAR", "error": "DOUBLE", "error_words": "VARCHAR"}]'), lambda attribute: { 'metric': 'mean_error' || ' (' || attribute.name || ')', 'value': attribute.error, 'text': NULL::VARCHAR, 'unit': 'unit of the column', 'in_words': attribute.error_words, 'description': 'mean absolute difference between the released number of a row and its own, in days for dates and in seconds for times; NULL for categories, and for ranges and labels; lower is better'} ), list_transform( from_json(measured -> 'attributes', '[{"name": "VARCHAR", "changed": "DOUBLE", "changed_words": "VARCHAR"}]'), lambda attribute: { 'metric': 'changed_cells' || ' (' || attribute.name || ')', 'value': attribute.changed, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': attribute.changed_words, 'description': 'cells_generalized of this quasi-identifier alone: released rows that do not show exactly their own value; lower is better'} )),
        lambda m: list_contains(['rows', 'rows_released', 'rows_suppressed', 'classes', 'class_size_mean', 'class_size_max', 'k_requested', 'k', 'information_loss', 'sse', 'sse_released', 'sst', 'guaranteed_ratio', 'total_il', 'ncp', 'ncp_distinct', 'entropy_loss', 'total_il_grouping', 'ncp_grouping', 'ncp_distinct_grouping', 'entropy_loss_grouping', 'discernibility', 'c_avg', 'overfull_ratio', 'quadratic_penalty', 'classification_metric', 'unchanged_columns', 'unique_in_unchanged', 'prosecutor_risk_max', 'prosecutor_risk_mean', 'gamma', 'blocks', 'spanning_degree', 'refine_steps', 'homogeneous_rows', 'homogeneous_sensitive_rows', 'l_requested', 'c_requested', 't_requested', 'alpha_requested', 'delta_requested', 'beta_requested', 'l', 'c', 't', 'alpha', 'delta', 'beta', 'average_risk_requested', 'k_map_requested', 'k_map', 'persons', 'persons_suppressed', 'rows_per_person_mean', 'k_persons', 'prosecutor_risk_max_persons', 'prosecutor_risk_mean_persons', 'parts', 'parts_joined', 'part_rows_min', 'release', 'anonymity_set_min', 'information_loss_released', 'headroom'], split_part(m.metric, ' (', 1))
    ) AS metrics, rows_suppressed
    FROM __kanon_facts
)
SELECT unnest(list_concat(
    [{'section': 'made', 'entry': 'duckdb', 'value': to_json(version())::VARCHAR,
      'description': 'the version of DuckDB that made it'}],
    from_json('[{"section": "made", "entry": "format", "value": "2", "description": "of this manifest"}, {"section": "made", "entry": "kanon_sql", "value": "\"0.1.0\"", "description": "the version that made the release"}, {"section": "made", "entry": "call", "value": "\"anonymize\"", "description": "the call"}, {"section": "options", "entry": "quasi_identifiers", "value": "\"all other columns\"", "description": "The columns to generalize, because together they may identify a person."}, {"section": "options", "entry": "sensitive", "value": "[\"disease\"]", "description": "The columns to release unchanged, because the release is about their values."}, {"section": "options", "entry": "identifiers", "value": "[\"name\"]", "description": "The columns to drop, because each alone identifies a person."}, {"section": "options", "entry": "others", "value": "\"quasi_identifier\"", "description": "How columns without a role are treated: ''error'' rejects the call and names them; ''quasi_identifier'' generalizes them; ''drop'' leaves them out; ''release'' releases them unchanged. A column that looks like an identifier is released as NULL."}, {"section": "options", "entry": "roles", "value": "null", "description": "A relation with the roles of columns: column_name, role, and for quasi-identifiers also hierarchy, representation and column_weight. Options of the call override it, and it overrides comments."}, {"section": "options", "entry": "categorical", "value": "[]", "description": "The quasi-identifiers to treat as categories, although their type has an order, such as integer codes."}, {"section": "options", "entry": "class_label", "value": "null", "description": "The column that a classifier will learn to predict from the release. It is released unchanged, classification_metric is measured for it, and k_member prefers rows with the majority label of their class."}, {"section": "options", "entry": "k", "value": "4", "description": "The minimum number of released rows that share each combination of quasi-identifiers. In audits, where it is optional, classes, rows and persons below k are counted."}, {"section": "options", "entry": "method", "value": "\"auto\"", "description": "The method that groups the rows; anonymize_methods() lists all methods. ''auto'' chooses one by the representation, the types of the columns and the number of rows, and the metrics name it."}, {"section": "options", "entry": "distance", "value": "\"sse\"", "description": "How a method measures the distance of rows: ''sse'' is squared distance of standardized values; ''loss'' is information loss: difference / range for numbers, height of the lowest common ancestor / height of the hierarchy for categories."}, {"section": "options", "entry": "loss", "value": "\"range_flat\"", "description": "The loss of categories under distance ''loss'': ''range_flat'' is height of the lowest common ancestor / height of the hierarchy, or without a hierarchy 1 unless all rows of the class agree; ''range_distinct'' is (values - 1) / (values of the column - 1), where the values are those of the class, or with a hierarchy the mean number below a node at the level of the lowest common ancestor. Numbers always lose range of the class / range of the column."}, {"section": "options", "entry": "column_weights", "value": "{}", "description": "The weight of a quasi-identifier in the grouping, which multiplies squared distances along the column and its information loss. 0 excludes the column from the grouping only."}, {"section": "options", "entry": "suppress", "value": "0.0", "description": "The maximum share of the rows that are left out to lower the loss. Each costs as much as a row that is completely generalized in every quasi-identifier."}, {"section": "options", "entry": "nulls", "value": "\"value\"", "description": "How a NULL or NaN in a quasi-identifier is treated: ''value'' treats it as a value of its own, ''suppress'' leaves its row out and counts it, ''error'' rejects the call."}, {"section": "options", "entry": "seed", "value": "null", "description": "Determines the order of equal rows, the order of the release and class_id. The same seed gives the same release."}, {"section": "options", "entry": "effort", "value": "\"by an estimate of the time\"", "description": "How long to search for a better grouping: ''fast'' does not search; ''balanced'' runs a local search; ''thorough'' searches about eight times as many steps, or with method ''auto'' may run the method best (up to 100,000 rows). The search moves and swaps rows, and splits and merges classes. It never ends with a higher squared error than it began (total_il for k_member, nearest and mondrian; generalized cells for forest, pairs and triples). Classes with published centers are only split, so every guarantee holds."}, {"section": "options", "entry": "refine_steps", "value": "null", "description": "The number of rows that the search visits (for the method best, each of its parallel searches). The release depends on it."}, {"section": "options", "entry": "refine_seconds", "value": "null", "description": "Stops the search after this number of seconds. anonymize_metrics reports the steps taken; the same number as refine_steps gives the same release again."}, {"section": "options", "entry": "block_rows", "value": "null", "description": "The maximum number of rows that are grouped as one block: at least 50 times k. Larger tables are cut into blocks of similar rows, which are grouped on all cores. The groups along the cuts are then refined, except by methods that choose centers. optimal_1d, best, mondrian, full_domain, pairs, triples, zip_regions, gps_rectangles, fold, spread, five_halves, bin_cover, ordered group all rows as one block."}, {"section": "options", "entry": "representation", "value": "\"hierarchy, else rounded\"", "description": "The form in which a class releases its values: ''centroid'' is the exact mean of numbers and times (of dates the nearest day), and the most frequent value of other columns; ''rounded'' is the centroid in the column''s own type and precision: a mean of integers is an integer, 50.3 keeps one decimal, a timestamp its unit; halves go to the even neighbor (a DECIMAL''s mean is a DOUBLE); ''median'' is the (lower) median of ordered values, and the most frequent value of other columns; ''interval'' is VARCHAR: ''[20, 29]'', ''{Private, State-gov}'', or the value if all rows agree; ''bounds'' is STRUCT(min, max) of ordered values, and a LIST of the distinct values of other columns; ''suppress'' is the value if all rows agree, else ''*'' in text columns and NULL in other columns; ''number'' is the number of the class (methods for one attribute only); ''hierarchy'' is VARCHAR: the label of the lowest common ancestor in the column''s hierarchy. Give one for all columns, or one by column, with ''*'' for all others: {''age'': ''median'', ''*'': ''interval''}."}, {"section": "options", "entry": "class_id", "value": "false", "description": "Adds the number of each row''s class as the column class_id."}, {"section": "options", "entry": "keep_order", "value": "false", "description": "Releases the rows in the order of the relation. That order may reveal who they are."}, {"section": "options", "entry": "sensitive_values", "value": "[]", "description": "The values of sensitive columns that need protection, for homogeneous_sensitive_rows, alpha and diversity_preference ''sensitive''."}, {"section": "options", "entry": "l", "value": "null", "description": "The minimum number of values of the sensitive column in each class, counted as diversity_kind says. Give a number for the only sensitive column, or one by column: {''disease'': 3}."}, {"section": "options", "entry": "diversity_kind", "value": "\"distinct\"", "description": "The kind of l-diversity: ''distinct'' requires l different values; ''entropy'' requires at least the entropy of l equally frequent values; ''recursive'' requires that the most frequent value occurs less often than c times the l-th most frequent and all rarer values together. Give one for all columns, or one by column."}, {"section": "options", "entry": "c", "value": "null", "description": "The factor of the rarer values with diversity_kind ''recursive''. Give a number for the only sensitive column, or one by column: {''disease'': 3}."}, {"section": "options", "entry": "t", "value": "null", "description": "The maximum earth mover''s distance, from 0 to 1, between the sensitive values of a class and those of all released rows (t-closeness). Give a number for the only sensitive column, or one by column: {''disease'': 0.2}."}, {"section": "options", "entry": "closeness", "value": "null", "description": "The cost of moving a row to another value, for t: ''equal'' is 1 for any two values; ''ordered'' is their difference in rank / largest difference in rank; ''numeric'' is their difference / largest difference; ''hierarchy'' is height of their lowest common ancestor / height of the hierarchy. Give one for all columns, or one by column."}, {"section": "options", "entry": "alpha", "value": "{\"disease\": {\"sha256\": \"f7e161874b9a41257e7080224bdf2d9169212e62e234621759b66532e191e54e\"}}", "description": "The maximum share of a class that a sensitive value may have, above 0. It applies to every value, or only to sensitive_values if they are given. Give a number, one by value: MAP {''HIV'': 0.1, ''Flu'': 0.5}, or one by column: {''disease'': 0.5}."}, {"section": "options", "entry": "delta", "value": "null", "description": "The maximum absolute logarithm of a value''s share of a class over its share of all released rows, for every value that occurs in them (delta-disclosure privacy). Give a number for the only sensitive column, or one by column: {''disease'': 1.5}."}, {"section": "options", "entry": "beta", "value": "null", "description": "The maximum gain of a value''s share in a class over its share of all released rows, as a multiple of the latter (beta-likeness). Give a number for the only sensitive column, or one by column: {''disease'': 2}."}, {"section": "options", "entry": "beta_kind", "value": "\"enhanced\"", "description": "The kind of beta-likeness: ''enhanced'' allows a gain of at most beta, and at most -ln p for a value with share p of all rows; ''basic'' allows a gain of at most beta. Give one for all columns, or one by column."}, {"section": "options", "entry": "sensitive_nulls", "value": "\"worst\"", "description": "How l, alpha and t treat a NULL or NaN in a sensitive column: ''worst'' is the most frequent value of its class (l, alpha), or farthest from all others (t); ''value'' is a value as any other. For delta and beta, it is always a value."}]', '[{"section": "VARCHAR", "entry": "VARCHAR", "value": "VARCHAR", "description": "VARCHAR"}]'),
    [{'section': 'hierarchies', 'entry': 'zip', 'value': to_json({'rows_sha256': (SELECT sha256(head || coalesce(array_to_string(
            list_transform(list_sort(parts, 'ASC', 'NULLS LAST'), lambda part: part.digest), ''), ''))
    FROM (SELECT array_to_string([*COLUMNS(*)], '') AS head
          FROM (SELECT strlen(alias(COLUMNS(*))) || ':' || alias(COLUMNS(*))
                    || strlen(__kanon_type(COLUMNS(*))) || ':' || __kanon_type(COLUMNS(*))
                FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM "levels" WHERE false) AS __kanon_none ON true)))
    CROSS JOIN (
        SELECT list({'start': start, 'digest': digest}) AS parts
        FROM (SELECT digest[1:3] AS start,
                     sha256(array_to_string(list_sort(list(digest), 'ASC', 'NULLS LAST'), '')) AS digest
              FROM (SELECT sha256(concat(*COLUMNS(*))) AS digest
              FROM (SELECT CASE WHEN COLUMNS(*) IS NULL THEN '-'
                                ELSE concat(strlen(COLUMNS(*)), ':', COLUMNS(*)) END
                    FROM (SELECT __kanon_text(COLUMNS(*)) FROM "levels")))
              GROUP BY digest[1:3])))})::VARCHAR, 'description': 'how a column is generalized'}, {'section': 'hierarchies', 'entry': 'age', 'value': '{"kind": "bins", "options_sha256": "ebdc1ff47b6c5d44d3db816bfd651317bf788500e6c7b548b40ba6e7247408b2"}', 'description': 'how a column is generalized'}]::STRUCT(section VARCHAR, entry VARCHAR, "value" VARCHAR, description VARCHAR)[],
    list_transform(columns, lambda c: {
        'section': 'columns', 'entry': c[1], 'value': to_json(c[2])::VARCHAR,
        'description': 'the type of a released column'}),
    list_transform(names, lambda n: {
        'section': 'roles', 'entry': n,
        'value': to_json(coalesce(
            CASE WHEN list_contains(withheld, __kanon_caseless(n)) THEN 'withheld' END,
            list_filter(from_json('[["disease", "sensitive"], ["name", "identifier"]]', '[["VARCHAR"]]'), lambda r: r[1] = __kanon_caseless(n))[1][2],
            'quasi_identifier'))::VARCHAR,
        'description': 'the role of a column of the relation'}),
    list_transform(metrics, lambda m: {
        'section': 'metrics', 'entry': m.metric,
        'value': CASE WHEN m.value IS NULL
                        OR (rows_suppressed > 0 AND list_contains(['total_il', 'ncp', 'ncp_distinct', 'total_il_grouping', 'ncp_grouping', 'ncp_distinct_grouping'], split_part(m.metric, ' (', 1)))
                      THEN 'null'
                      WHEN NOT isfinite(m.value) THEN to_json(m.value::VARCHAR)::VARCHAR
                      WHEN m.value = floor(m.value) THEN m.value::HUGEINT::VARCHAR
                      WHEN list_contains(['rows', 'rows_released', 'rows_suppressed', 'classes', 'class_size_mean', 'class_size_max', 'k_requested', 'k', 'cost', 'centers_equal_to_a_row', 'discernibility', 'c_avg', 'overfull_ratio', 'quadratic_penalty', 'classification_metric', 'unchanged_columns', 'unique_in_unchanged', 'prosecutor_risk_max', 'prosecutor_risk_mean', 'seconds_verify', 'method', 'options', 'seed', 'version', 'homogeneous_rows', 'homogeneous_sensitive_rows', 'l_requested', 'c_requested', 't_requested', 'alpha_requested', 'delta_requested', 'beta_requested', 'l', 'c', 't', 'alpha', 'delta', 'beta', 'l_least_class_size', 't_least_class_size', 'alpha_least_class_size', 'delta_least_class_size', 'beta_least_class_size', 'l_violating_before', 't_violating_before', 'alpha_violating_before', 'delta_violating_before', 'beta_violating_before', 'average_risk_requested', 'k_map_requested', 'k_map', 'k_weighted', 'risk_weighted_max', 'risk_weighted_mean'], split_part(m.metric, ' (', 1)) THEN to_json(m.value)::VARCHAR
                      ELSE to_json(format('{:.2e}', m.value)::DOUBLE)::VARCHAR END,
        'description': m.description}),
    [{'section': 'release', 'entry': 'number',
      'value': coalesce(to_json(list_filter(metrics, lambda m: m.metric = 'release')[1].value::BIGINT)::VARCHAR, 'null'),
      'description': 'which release of its ledger this is; null without a ledger'},
     {'section': 'release', 'entry': 'rows_sha256', 'value': to_json(digest)::VARCHAR,
      'description': 'SHA-256 of the released rows, regardless of their order, and of their columns'},
     {'section': 'release', 'entry': 'sql_sha256', 'value': to_json('90649628be1b9880e0e52610bc7f51b6a742d501792d8cf70db467bfe398f5af')::VARCHAR,
      'description': 'SHA-256 of the text that anonymize_sql gives for the same call, with seed 0 where the seed is secret'},
     {'section': 'release', 'entry': 'method', 'value': to_json((SELECT grouped ->> 'method' FROM __kanon_facts))::VARCHAR, 'description': 'the method that ''auto'' chose'}]
), max_depth := 2)
FROM __kanon_stated CROSS JOIN __kanon_digest CROSS JOIN __kanon_types CROSS JOIN __kanon_names
    CROSS JOIN (SELECT list_transform(grouped.hidden, lambda name: __kanon_caseless(name)) AS withheld FROM __kanon_grouped), __kanon_check
WHERE __kanon_check.passed
