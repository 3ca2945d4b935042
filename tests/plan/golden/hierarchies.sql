-- anonymize('patients', k := 4, method := 'mondrian', identifiers := ['name'], sensitive := ['disease'], hierarchies := {'zip': 'prefix', 'age': {'kind': 'bins', 'width': 10}})
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
__kanon_source AS MATERIALIZED (  -- each row, its number, and what breaks ties
    SELECT row_number() OVER () AS __kanon_row,
           {'apart': (md5_number(concat('0 ', __kanon_row_text(row(*COLUMNS(__kanon.* EXCLUDE ("disease")))))) >> 64)::UBIGINT,
            'whole': (md5_number(concat('0 ', __kanon_row_text(row((md5_number(concat('0 ', __kanon_row_text(row(*COLUMNS(__kanon.* EXCLUDE ("disease")))))) >> 64)::UBIGINT, __kanon."disease")))) >> 64)::UBIGINT} AS __kanon_hash,
           __kanon.*
    FROM "patients" AS __kanon
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
        NULL,
        NULL,
        '{"column": "zip", "kind": "prefix", "show_values": false}') AS tree)
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
                       NULL::STRUCT(number DOUBLE, category VARCHAR)[] AS __kanon_secrets, NULL::DOUBLE AS __kanon_extra,
                       __kanon_cell(COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "disease", "name")))
                FROM (SELECT * REPLACE (__kanon_key("zip") AS "zip", __kanon_key("age") AS "age") FROM __kanon_kept)
                WHERE (SELECT passed FROM __kanon_accounted)))
),
__kanon_begun AS MATERIALIZED (  -- announces the work: a ticket out
    SELECT __kanon_start(
        (SELECT columns FROM __kanon_columns),
        NULL,
        '{"least": 2, "named": ["age", "zip"], "progress": true, "task": {"beside_k": [], "block_rows": null, "class_label": null, "distance": "loss", "k": 4, "loss": "range_flat", "method": "mondrian", "nulls": "value", "own": {"partitioning": "strict"}, "refine": "none", "refine_seconds": null, "refine_steps": null, "seed": 0, "sensitive_values": [], "suppress": 0.0, "weights": {}}}',
        [{'name': 'zip', 'paths': (SELECT paths FROM __kanon_tree_1)}, {'name': 'age', 'paths': (SELECT paths FROM __kanon_tree_2)}],
        NULL,
        [],
        [(SELECT list_concat(['name'], list_transform( list_filter([*COLUMNS(*)], lambda known: __kanon_is_constant(known)), lambda known: known.name)) FROM (SELECT __kanon_of_persons(COLUMNS(* EXCLUDE (__kanon_whose)), 2) FROM (SELECT __kanon_whose, __kanon_of_person(COLUMNS(* EXCLUDE (__kanon_whose))) FROM (SELECT __kanon_hash_of("name") AS __kanon_whose, COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "disease", "name")) FROM __kanon_source WHERE "name" IS NOT NULL AND __kanon_hash_of("name") % greatest(1, (SELECT count(*) FROM __kanon_source) // 50000)::UBIGINT = 0) GROUP BY __kanon_whose)))],
        NULL,
        system.main.current_setting('threads'),
        regexp_matches(system.main.current_query(), '(?is)\bcopy\b.*\bpartition_by\b'),
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
    FROM (SELECT __kanon_class, __kanon_interval(COLUMNS(* EXCLUDE ("__kanon_class"))) FROM (SELECT __kanon_class, __kanon_value(COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_row", "__kanon_hash", "disease", "name"))) FROM (SELECT * REPLACE (0 AS "zip", 0 AS "age") FROM __kanon_labelled) ORDER BY __kanon_class ASC) GROUP BY __kanon_class) AS _plain
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
__kanon_check AS MATERIALIZED (  -- nothing comes out unless this passes
    SELECT CASE
        WHEN NOT (SELECT passed FROM __kanon_unshadowed) THEN false
        WHEN NOT (SELECT passed FROM __kanon_accounted) THEN false
        WHEN min(__kanon_size) < 4
            THEN __kanon_refuse('ReleaseError', format('The release was stopped: a class of released values has {} rows, fewer than k = 4. Nothing was released; please report this as a bug of the method mondrian.', min(__kanon_size)))
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
                'ReleaseError', format('The release was stopped: it leaves out {} rows, more than suppress = 0.0 allows. Nothing was released; please report this as a bug of the method mondrian.', any_value(__kanon_out)::BIGINT))
        ELSE true END AS passed
    FROM (SELECT coalesce(sum(__kanon_rows), 0)::BIGINT AS __kanon_once,
                 coalesce(sum(__kanon_rows) FILTER (WHERE __kanon_class < 0), 0)::BIGINT
                     AS __kanon_out
          FROM __kanon_numbers)
    CROSS JOIN (SELECT grouped.rows AS __kanon_label_count FROM __kanon_grouped)
    CROSS JOIN (SELECT count(*) AS __kanon_kept_count FROM __kanon_kept)
    LEFT JOIN __kanon_sizes ON true
),
__kanon_sets AS MATERIALIZED (  -- the values of all classes
    SELECT list(__kanon_classes ORDER BY __kanon_class ASC) AS __kanon_list FROM __kanon_classes
),
__kanon_places AS (  -- where in that list a class stands
    SELECT __kanon_class, row_number() OVER (ORDER BY __kanon_class ASC) AS __kanon_place,
           md5(__kanon_row_text(row('', *COLUMNS(* EXCLUDE (__kanon_class))))) AS __kanon_digest
    FROM __kanon_classes
),
__kanon_ordered AS NOT MATERIALIZED (
    SELECT * EXCLUDE (__kanon_digest)
    FROM (SELECT __kanon_place, __kanon_digest, __kanon_labelled."disease"
          FROM __kanon_labelled JOIN __kanon_places USING (__kanon_class)
          WHERE (SELECT passed FROM __kanon_check)) AS __kanon
    ORDER BY md5(concat('0 ', __kanon_row_text(row('', *COLUMNS(__kanon.* EXCLUDE (__kanon_place)))))) ASC
),
__kanon_released AS NOT MATERIALIZED (  -- columns in their old order
    (SELECT __kanon_nothing(COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "name"))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT * EXCLUDE (__kanon_class, __kanon_place)
     FROM (SELECT UNNEST(__kanon_list[__kanon_place]), __kanon_ordered.*
           FROM __kanon_ordered CROSS JOIN __kanon_sets))
)
SELECT __kanon_without_statistics(__kanon_plain(COLUMNS(*)))
FROM __kanon_released
