-- anonymize('patients', k := 5, quasi_identifiers := ['age', 'zip'], identifiers := ['name'], sensitive := ['job', 'disease'])
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
           {'apart': (md5_number(concat('0 ', __kanon_row_text(row(*COLUMNS(__kanon.* EXCLUDE ("job", "disease")))))) >> 64)::UBIGINT,
            'whole': (md5_number(concat('0 ', __kanon_row_text(row((md5_number(concat('0 ', __kanon_row_text(row(*COLUMNS(__kanon.* EXCLUDE ("job", "disease")))))) >> 64)::UBIGINT, __kanon."job", __kanon."disease")))) >> 64)::UBIGINT} AS __kanon_hash,
           __kanon.*
    FROM "patients" AS __kanon
    WHERE __kanon_has(COLUMNS(['age', 'zip', 'job', 'disease', 'name']))
),
__kanon_kept AS (  -- the rows that take part
    FROM __kanon_source
),
__kanon_columns AS (  -- name and type of each quasi-identifier
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(COLUMNS(['age', 'zip']))
          FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_source WHERE false) AS __kanon_none ON true))
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
        WHEN (SELECT CASE WHEN len(names) > 0 THEN format('{} no role: {}{}. Name each in sensitive=[...], identifiers=[...] or quasi_identifiers=[...], or say others=''drop'', others=''release'' or others=''quasi_identifier''.', CASE WHEN len(names) = 1 THEN '1 column has' ELSE concat(len(names), ' columns have') END, concat('''', array_to_string(names[1:10], ''', '''), ''''), CASE WHEN len(names) > 10 THEN concat(' and ', len(names) - 10, ' more') ELSE '' END) END FROM (SELECT list_filter(names, lambda name: NOT list_contains(from_json('["age", "zip", "job", "disease", "name"]', '["VARCHAR"]'), __kanon_caseless(name))) AS names FROM __kanon_names)) IS NOT NULL
            THEN __kanon_refuse('OptionError', (SELECT CASE WHEN len(names) > 0 THEN format('{} no role: {}{}. Name each in sensitive=[...], identifiers=[...] or quasi_identifiers=[...], or say others=''drop'', others=''release'' or others=''quasi_identifier''.', CASE WHEN len(names) = 1 THEN '1 column has' ELSE concat(len(names), ' columns have') END, concat('''', array_to_string(names[1:10], ''', '''), ''''), CASE WHEN len(names) > 10 THEN concat(' and ', len(names) - 10, ' more') ELSE '' END) END FROM (SELECT list_filter(names, lambda name: NOT list_contains(from_json('["age", "zip", "job", "disease", "name"]', '["VARCHAR"]'), __kanon_caseless(name))) AS names FROM __kanon_names)))
        WHEN EXISTS (SELECT 1 FROM duckdb_columns() WHERE list_contains(from_json('["patients"]', '["VARCHAR"]'), __kanon_caseless(table_name)) AND __kanon_declares(comment) AND NOT list_contains(from_json('[]', '["VARCHAR"]'), concat( database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment)) AND NOT list_contains(from_json('["age", "zip", "job", "disease", "name"]', '["VARCHAR"]'), __kanon_caseless(column_name)))
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
                       __kanon_cell(COLUMNS(['age', 'zip']))
                FROM __kanon_kept
                WHERE (SELECT passed FROM __kanon_accounted)))
),
__kanon_begun AS MATERIALIZED (  -- announces the work: a ticket out
    SELECT __kanon_start(
        (SELECT columns FROM __kanon_columns),
        NULL,
        '{"named": null, "precise": true, "progress": true, "task": {"beside_k": [], "block_rows": null, "class_label": null, "distance": "sse", "k": 5, "loss": "range_flat", "method": "auto", "nulls": "value", "own": {}, "refine": "by estimate", "refine_seconds": null, "refine_steps": null, "seed": 0, "sensitive_values": [], "suppress": 0.0, "weights": {}}}',
        NULL,
        NULL,
        [],
        [(SELECT list_concat(['name'], list_transform( list_filter([*COLUMNS(*)], lambda known: __kanon_is_constant(known)), lambda known: known.name)) FROM (SELECT __kanon_of_persons(COLUMNS(* EXCLUDE (__kanon_whose)), 2) FROM (SELECT __kanon_whose, __kanon_of_person(COLUMNS(* EXCLUDE (__kanon_whose))) FROM (SELECT __kanon_hash_of("name") AS __kanon_whose, COLUMNS(['age', 'zip']) FROM __kanon_source WHERE "name" IS NOT NULL AND __kanon_hash_of("name") % greatest(1, (SELECT count(*) FROM __kanon_source) // 50000)::UBIGINT = 0) GROUP BY __kanon_whose)))],
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
    SELECT __kanon_class, __kanon_precise(
        COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions")), COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions")), __kanon_steps(__kanon_precisions, __kanon_caseless(__kanon_name(COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions"))))))
    FROM (SELECT __kanon_class, __kanon_rounded(COLUMNS(* EXCLUDE ("__kanon_class")), system.main.min(COLUMNS(* EXCLUDE ("__kanon_class"))), system.main.max(COLUMNS(* EXCLUDE ("__kanon_class")))) FROM (SELECT __kanon_class, __kanon_value(COLUMNS(['age', 'zip'])) FROM __kanon_labelled ORDER BY __kanon_class ASC) GROUP BY __kanon_class) CROSS JOIN (SELECT grouped.precisions AS __kanon_precisions FROM __kanon_grouped)
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
        WHEN min(__kanon_size) < 5
            THEN __kanon_refuse('ReleaseError', format('The release was stopped: a class of released values has {} rows, fewer than k = 5. Nothing was released; please report this as a bug of the method auto.', min(__kanon_size)))
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
__kanon_released AS NOT MATERIALIZED (  -- columns in their old order
    (SELECT __kanon_blank(COLUMNS(* EXCLUDE ("__kanon_row", "__kanon_hash", "name"))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT __kanon_classes.* EXCLUDE (__kanon_class), __kanon_labelled."job", __kanon_labelled."disease"
     FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class))
)
SELECT __kanon_without_statistics(COLUMNS(__kanon.*))
FROM __kanon_released AS __kanon, __kanon_check
WHERE __kanon_check.passed
ORDER BY md5(concat('0 ', __kanon_row_text(row(*COLUMNS(__kanon.*))))) ASC
