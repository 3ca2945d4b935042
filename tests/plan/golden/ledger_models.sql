-- anonymize('patients', k := 4, quasi_identifiers := ['age', 'zip'], sensitive := ['disease'], others := 'drop', entity := 'name', ledger := 'releases', l := 2, t := 0.5, seed := 7)
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
           {'apart': (md5_number(concat('7 ', __kanon_row_text(row(*COLUMNS(__kanon.* EXCLUDE ("disease", "name")))))) >> 64)::UBIGINT,
            'whole': (md5_number(concat('7 ', __kanon_row_text(row((md5_number(concat('7 ', __kanon_row_text(row(*COLUMNS(__kanon.* EXCLUDE ("disease", "name")))))) >> 64)::UBIGINT, __kanon."disease", __kanon."name")))) >> 64)::UBIGINT} AS __kanon_hash,
           COLUMNS(['age', 'zip', 'disease', 'name'])
    FROM "patients" AS __kanon
    WHERE __kanon_has(COLUMNS(['age', 'zip', 'disease', 'name']))
),
__kanon_told AS MATERIALIZED (
    SELECT [*COLUMNS(*)] AS told
    FROM (SELECT __kanon_of_persons(COLUMNS(* EXCLUDE (__kanon_whose)), 4)
          FROM (SELECT __kanon_whose, __kanon_of_person(COLUMNS(* EXCLUDE (__kanon_whose)))
                FROM (SELECT decode(encode(__kanon_key("name"))) AS __kanon_whose,
                             NULL AS __kanon_none, "disease"
                      FROM __kanon_source)
                GROUP BY __kanon_whose))
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
__kanon_ledger AS MATERIALIZED (
    SELECT TRY_CAST(release::VARCHAR AS BIGINT) AS release, __kanon_key(entity) AS person,
           TRY_CAST(class::VARCHAR AS BIGINT) AS class, published, source::VARCHAR AS source,
           typeof(entity) AS type,
           CASE WHEN regexp_full_match(options::VARCHAR, '\{"k":[0-9]+,.*"columns":\[.*\]\}')
                THEN options::VARCHAR END AS options
    FROM "releases" AS __kanon
),
__kanon_owners AS MATERIALIZED (  -- whose row each row is, and a digest of what may identify it
    SELECT __kanon_row, __kanon_key("name") AS person,
           md5(to_json([__kanon_key("age"), __kanon_key("zip")])::VARCHAR) AS source
    FROM __kanon_source
),
__kanon_releases AS MATERIALIZED (
    SELECT release, count(*) AS exposures, count(DISTINCT person) AS persons,
           min(options) AS options, max(options) AS options_too
    FROM __kanon_ledger GROUP BY release
),
__kanon_numbered AS MATERIALIZED (SELECT coalesce(max(release), 0) + 1 AS release FROM __kanon_releases),
__kanon_stored AS MATERIALIZED (  -- what was asked of the last release, and the least k of all
    SELECT list_sort(list({'release': release, 'options': options}), 'DESC', 'NULLS LAST')[1].options
               AS options,
           min((options ->> 'k')::BIGINT) AS least, max((options ->> 'k')::BIGINT) AS most
    FROM __kanon_releases
),
__kanon_asked AS MATERIALIZED (  -- what is asked of this one
    SELECT to_json({'k': 4, 'attacker': 'knows_presence', 'headroom': 1, 'method': 'mdav_star',
                'version': '0.1.0', 'shown': '{"categorical": [], "hierarchies": {}, "nulls": "value", "representation": "rounded"}', 'models': '[{"column": "disease", "distance": null, "name": "t_closeness", "nulls": "worst", "t": 0.5}, {"column": "disease", "l": 2, "name": "distinct_l_diversity", "nulls": "worst"}]',
                'columns': list_sort(list_transform(
                    columns, lambda pair: [__kanon_caseless(pair[1]), pair[2]]), 'ASC', 'NULLS LAST')
               })::VARCHAR AS options
    FROM __kanon_columns
),
__kanon_frozen AS MATERIALIZED (  -- what each class published, which stays
    SELECT class, published FROM __kanon_ledger GROUP BY class, published
),
__kanon_past AS MATERIALIZED (  -- the history of each person, such as '1:17 2:17'
    SELECT person,
           array_to_string(list_transform(
               list_sort(list({'release': release, 'class': class}), 'ASC', 'NULLS LAST'),
               lambda step: concat(step.release, ':', step.class)), ' ') AS history,
           list_sort(list({'release': release, 'source': source}), 'DESC', 'NULLS LAST')[1].source
               AS source
    FROM __kanon_ledger GROUP BY person
),
__kanon_histories_before AS MATERIALIZED (  -- the different histories, and how many persons have each
    SELECT row_number() OVER () AS history, steps, persons
    FROM (SELECT steps, count(*) AS persons
          FROM (SELECT list_sort(list({'release': release, 'class': class}), 'ASC', 'NULLS LAST')
                           AS steps
                FROM __kanon_ledger GROUP BY person)
          GROUP BY steps)
),
__kanon_steps_before AS MATERIALIZED (
    SELECT history, persons, len(steps) AS length, steps[len(steps)].release AS last_release,
           unnest(steps) AS step
    FROM __kanon_histories_before
),
__kanon_crowds_before AS MATERIALIZED (  -- of each history: those who have it, and who have all its steps
    SELECT history, persons, last_release, sum(others)::BIGINT AS crowd
    FROM (SELECT mine.history, any_value(mine.persons) AS persons,
                 any_value(mine.last_release) AS last_release, any_value(theirs.persons) AS others
          FROM __kanon_steps_before AS mine JOIN __kanon_steps_before AS theirs ON mine.step = theirs.step
          GROUP BY mine.history, theirs.history
          HAVING count(*) = any_value(mine.length))
    GROUP BY history, persons, last_release
),
__kanon_columns_asked AS MATERIALIZED (  -- the quasi-identifiers: then, and now
    SELECT from_json(options -> 'columns', '[["VARCHAR"]]') AS stored,
           (SELECT from_json(options -> 'columns', '[["VARCHAR"]]') FROM __kanon_asked) AS asked
    FROM __kanon_stored
),
__kanon_faults AS MATERIALIZED (
    SELECT (SELECT count(person) - count(DISTINCT person) FROM __kanon_owners) AS doubled,
           (SELECT count(*) FROM __kanon_releases) AS releases,
           (SELECT count(*) FROM __kanon_ledger WHERE release IS NULL OR person IS NULL
                OR class IS NULL OR published IS NULL OR source IS NULL OR options IS NULL)
               AS incomplete,
           (SELECT coalesce(sum(exposures - persons), 0) FROM __kanon_releases) AS doubled_there,
           (SELECT count(*) <> coalesce(max(release), 0) OR coalesce(min(release), 1) < 1
            FROM __kanon_releases) AS gaps,
           (SELECT bool_or(options <> options_too) FROM __kanon_releases) AS mixed,
           (SELECT count(*) <> count(DISTINCT class) FROM __kanon_frozen) AS unfrozen,
           (SELECT min(type) FROM __kanon_ledger) AS stored_type,
           (SELECT typeof("name") FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_source WHERE false) AS __kanon_none ON true)) AS type,
           least, most,
           options ->> 'attacker' AS stored_attacker,
           (SELECT min(crowd) FROM __kanon_crowds_before) AS crowd,
           list_filter(list_transform(stored, lambda pair: pair[1]), lambda name:
               NOT list_contains(list_transform(asked, lambda pair: pair[1]), name)) AS gone,
           list_filter(list_transform(asked, lambda pair: pair[1]), lambda name:
               NOT list_contains(list_transform(stored, lambda pair: pair[1]), name)) AS fresh,
           list_filter(list_transform(asked, lambda pair: pair[1]), lambda name:
               NOT list_contains(list_transform(list_filter(stored, lambda pair:
                   list_contains(asked, pair)), lambda pair: pair[1]), name)) AS other,
           options ->> 'shown' IS DISTINCT FROM (SELECT options ->> 'shown' FROM __kanon_asked)
               AS shown,
           options ->> 'models' IS DISTINCT FROM (SELECT options ->> 'models' FROM __kanon_asked)
               AS models
    FROM __kanon_stored CROSS JOIN __kanon_columns_asked
),
__kanon_published_before AS MATERIALIZED (
    SELECT class AS __kanon_class, unnest(published) FROM __kanon_frozen
),
__kanon_accounted AS MATERIALIZED (  -- every column has a role, and the planner saw all of them
    SELECT CASE
        WHEN (SELECT list_filter(names, lambda name: starts_with(__kanon_caseless(name), '__kanon_'))[1] FROM __kanon_names) IS NOT NULL
            THEN __kanon_refuse('OptionError', format('The relation has a column ''{}'', a name that the query needs for itself. Rename it first.', (SELECT list_filter(names, lambda name: starts_with(__kanon_caseless(name), '__kanon_'))[1] FROM __kanon_names)))
        WHEN EXISTS (SELECT 1 FROM duckdb_columns() WHERE list_contains(from_json('["patients"]', '["VARCHAR"]'), __kanon_caseless(table_name)) AND __kanon_declares(comment) AND NOT list_contains(from_json('[]', '["VARCHAR"]'), concat( database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment)) AND NOT list_contains(from_json('["age", "zip", "disease", "name"]', '["VARCHAR"]'), __kanon_caseless(column_name)))
            THEN __kanon_refuse('OptionError', 'The column comments of "patients" declare roles that are not committed yet. Commit first, or give these columns their roles in the call.')
        WHEN (SELECT doubled > 0 FROM __kanon_faults)
            THEN __kanon_refuse('DataError', 'The entity ''name'' has several rows for one person, and a ledger needs one for each. Aggregate them first.')
        WHEN (SELECT releases = 0 FROM __kanon_faults)
            THEN __kanon_refuse('DataError', 'The ledger ''releases'' is empty. Fill it by anonymize_ledger with the options of the first release.')
        WHEN (SELECT incomplete > 0 FROM __kanon_faults)
            THEN __kanon_refuse('DataError', 'The ledger ''releases'' has rows with a NULL, or with options or a number that can''t be read. Give it as anonymize_ledger made it.')
        WHEN (SELECT stored_type <> type FROM __kanon_faults)
            THEN __kanon_refuse('DataError', 'The ledger ''releases'' knows persons by another type than that of ''name''. Cast the column to the type that it had.')
        WHEN (SELECT doubled_there > 0 FROM __kanon_faults)
            THEN __kanon_refuse('DataError', 'The ledger ''releases'' has a person twice in one release. Insert each release once.')
        WHEN (SELECT gaps FROM __kanon_faults)
            THEN __kanon_refuse('DataError', 'The releases of the ledger ''releases'' are not numbered 1, 2, and so on. Give it as anonymize_ledger made it.')
        WHEN (SELECT mixed FROM __kanon_faults)
            THEN __kanon_refuse('DataError', 'The ledger ''releases'' has a release with two sets of options. Insert each release once.')
        WHEN (SELECT unfrozen FROM __kanon_faults)
            THEN __kanon_refuse('DataError', 'The ledger ''releases'' has a class that published two things. Give it as anonymize_ledger made it.')
        WHEN (SELECT coalesce(stored_attacker, '') <> 'knows_presence' FROM __kanon_faults)
            THEN __kanon_refuse('OptionError', 'The ledger ''releases'' is kept against another attacker than ''knows_presence''. Give the attacker of its first release.')
        WHEN (SELECT coalesce(most, 0) > 4 FROM __kanon_faults)
            THEN __kanon_refuse('OptionError', 'The ledger ''releases'' was made with a larger k than 4. Give at least that k.')
        WHEN (SELECT len(gone) > 0 FROM __kanon_faults)
            THEN __kanon_refuse('OptionError', 'The ledger ''releases'' has quasi-identifiers that are none in this call, so that its classes would be divided. Name those of its first release.')
        WHEN (SELECT len(fresh) > 0 FROM __kanon_faults)
            THEN __kanon_refuse('OptionError', 'This call has quasi-identifiers that the ledger ''releases'' lacks, so that its classes can''t be continued. Name those of its first release.')
        WHEN (SELECT len(other) > 0 FROM __kanon_faults)
            THEN __kanon_refuse('DataError', 'A quasi-identifier has another type than in the ledger ''releases''. Cast it to the type that it had.')
        WHEN (SELECT shown FROM __kanon_faults)
            THEN __kanon_refuse('OptionError', 'The classes of the ledger ''releases'' publish in another form. Give the representation, hierarchies, categorical and nulls of its first release.')
        WHEN (SELECT models FROM __kanon_faults)
            THEN __kanon_refuse('OptionError', 'The ledger ''releases'' was made with other privacy models. Give those of its first release.')
        WHEN (SELECT coalesce(crowd, 0) < coalesce(least, 0) FROM __kanon_faults)
            THEN __kanon_refuse('DataError', 'The ledger ''releases'' fails its own check: the anonymity set of a person is smaller than its k. See ledger_check, and don''t release from it.')
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
                       [{'number': (__kanon_cell("disease")).number, 'category': __kanon_key("disease")}, {'number': (__kanon_cell("name")).number, 'category': __kanon_key("name")}] AS __kanon_secrets, NULL::DOUBLE AS __kanon_extra,
                       __kanon_cell(COLUMNS(['age', 'zip']))
                FROM __kanon_kept
                WHERE (SELECT passed FROM __kanon_accounted)))
),
__kanon_begun AS MATERIALIZED (  -- announces the work: a ticket out
    SELECT __kanon_start(
        (SELECT columns FROM __kanon_columns),
        (SELECT [__kanon_describe("disease"), list_concat(__kanon_describe("name"), (SELECT list_transform( list_filter(told, lambda known: __kanon_like_entity(known, 0.9)), lambda known: known.name) FROM __kanon_told))] FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_source WHERE false) AS __kanon_none ON true)),
        '{"ledger": {"attacker": "knows_presence", "headroom": 1, "joined": "points"}, "named": null, "precise": true, "progress": true, "task": {"beside_k": [{"column": "disease", "l": 2, "name": "distinct_l_diversity", "nulls": "worst"}, {"column": "disease", "distance": null, "name": "t_closeness", "nulls": "worst", "t": 0.5}], "block_rows": null, "class_label": null, "distance": "sse", "k": 4, "loss": "range_flat", "method": "mdav_star", "nulls": "value", "own": {}, "persons": true, "refine": "none", "refine_seconds": null, "refine_steps": null, "seed": 7, "sensitive_values": [], "suppress": 0.0, "weights": {}}}',
        NULL,
        [{'name': 'ledger', 'names': ['row', 'history', 'stale', 'lot'], 'rows': (SELECT list([persons.__kanon_row::VARCHAR, past.history, CASE WHEN persons.__kanon_row IS NULL THEN NULL ELSE (persons.source <> past.source)::VARCHAR END, ((md5_number(concat('7', ' ', release, ' ', past.person)) >> 64)::UBIGINT)::VARCHAR]) FROM __kanon_past AS past LEFT JOIN __kanon_owners AS persons USING (person) CROSS JOIN __kanon_numbered)}, {'name': 'frozen', 'names': (SELECT list_concat(['class'], *COLUMNS(*)) FROM (SELECT [__kanon_name(COLUMNS(* EXCLUDE (__kanon_class))), ''] FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_published_before WHERE false) AS __kanon_none ON true))), 'rows': (SELECT list(list_concat([__kanon_class::VARCHAR], *COLUMNS(* EXCLUDE (__kanon_class)))) FROM (SELECT __kanon_class, [ (__kanon_cell(COLUMNS(* EXCLUDE (__kanon_class)))).number::VARCHAR, __kanon_key(COLUMNS(* EXCLUDE (__kanon_class)))] FROM __kanon_published_before))}],
        [],
        [],
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
    SELECT * FROM (SELECT __kanon_class, __kanon_precise(
        COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions")), COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions")), __kanon_steps(__kanon_precisions, __kanon_caseless(__kanon_name(COLUMNS(* EXCLUDE ("__kanon_class", "__kanon_precisions"))))))
    FROM (SELECT __kanon_class, __kanon_rounded(COLUMNS(* EXCLUDE ("__kanon_class")), system.main.min(COLUMNS(* EXCLUDE ("__kanon_class"))), system.main.max(COLUMNS(* EXCLUDE ("__kanon_class")))) FROM (SELECT __kanon_class, __kanon_value(COLUMNS(['age', 'zip'])) FROM __kanon_labelled ORDER BY __kanon_class ASC) GROUP BY __kanon_class) CROSS JOIN (SELECT grouped.precisions AS __kanon_precisions FROM __kanon_grouped))
    WHERE __kanon_class NOT IN (SELECT class FROM __kanon_frozen)
    UNION ALL BY NAME
    (SELECT COLUMNS(lambda name: list_contains(['__kanon_class', 'age', 'zip'], __kanon_caseless(name)))
     FROM __kanon_published_before
     WHERE __kanon_class IN (SELECT __kanon_class FROM __kanon_labels))
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
__kanon_whose AS MATERIALIZED (
    SELECT __kanon_class, entity, count(*) AS size
    FROM (SELECT __kanon_class_of(__kanon_grouped.ticket, __kanon_kept.__kanon_row)
                     AS __kanon_class,
                 decode(encode(__kanon_key(__kanon_kept."name"))) AS entity
          FROM __kanon_kept CROSS JOIN __kanon_grouped)
    WHERE __kanon_class IS NOT NULL
    GROUP BY __kanon_class, entity
),
__kanon_crowds AS MATERIALIZED (  -- persons of each combination
    SELECT count(DISTINCT entity) AS persons
    FROM __kanon_whose JOIN __kanon_combinations USING (__kanon_class)
    GROUP BY __kanon_combination
),
__kanon_persons AS MATERIALIZED (
    SELECT everybody, came, coming, left_out, places, fewest, most_rows, mean_rows, strangers
    FROM (SELECT count(DISTINCT entity) AS everybody,
                 count(DISTINCT entity) FILTER (WHERE __kanon_class >= 0) AS came,
                 count(DISTINCT entity) FILTER (WHERE __kanon_class >= 0) AS coming,
                 count(DISTINCT entity) FILTER (WHERE __kanon_class < 0) AS left_out,
                 count(*) AS places, count(*) FILTER (WHERE entity IS NULL) AS strangers
          FROM __kanon_whose)
    CROSS JOIN (SELECT min(persons) AS fewest FROM __kanon_crowds)
    CROSS JOIN (SELECT max(size)::BIGINT AS most_rows, avg(size) AS mean_rows
                FROM (SELECT sum(size) AS size FROM __kanon_whose
                      WHERE __kanon_class >= 0 GROUP BY entity))
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
                FROM (SELECT __kanon_combination AS combination,
                             decode(encode(__kanon_key("name"))) AS entity,
                             decode(encode(__kanon_key("disease"))) AS label,
                             __kanon_value("disease") AS sorted,
                             (__kanon_cell("disease")).number AS number
                      FROM __kanon_labelled JOIN __kanon_combinations USING (__kanon_class))
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
__kanon_line_1 AS MATERIALIZED (  -- of each value: rows with it or a lower one, and sums of these
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
__kanon_own_1 AS (  -- of each value of a combination: its rows with it or a lower one
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
          JOIN __kanon_line_1 USING (place))
    CROSS JOIN (SELECT max(place) AS last_place, max(position) AS last_position,
                       max(area) AS last_area, max(moment) AS last_moment
                FROM __kanon_line_1)
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
    ASOF LEFT JOIN __kanon_line_1 AS line ON seen * own.whole // total >= line.upto
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
    SELECT combination, size, any_value(missing) AS missing, any_value(whole) AS whole,
           sum(greatest(0, rows_of::HUGEINT * whole - size::HUGEINT * rows_of_all)) AS above_1
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
          FROM (SELECT combination, size::HUGEINT AS size, missing::DOUBLE AS missing
                FROM __kanon_spread_0)
          CROSS JOIN (SELECT many::HUGEINT AS whole, different - 1 AS steps,
                             missing::DOUBLE AS absent
                      FROM __kanon_whole_0)
          LEFT JOIN __kanon_moved_1 USING (combination))
    ) WHERE (SELECT ordered FROM __kanon_whole_0)
    UNION ALL
    SELECT combination, size, passes, has FROM (
    SELECT combination, size::HUGEINT AS size, above_1 * 2::HUGEINT <= 1::HUGEINT * size::HUGEINT * whole AS passes,
           above_1::DOUBLE / (size::DOUBLE * whole) AS has
    FROM __kanon_held_0
    ) WHERE NOT (SELECT ordered FROM __kanon_whole_0)
),
__kanon_models AS MATERIALIZED (
    SELECT 0 AS model, system.main.min(has) AS has, (SELECT count(*) FROM __kanon_sizes)
    - (SELECT count(*) FILTER (WHERE passes) FROM __kanon_model_0) AS broken FROM __kanon_model_0
    UNION ALL
    SELECT 1 AS model, system.main.max(has) AS has, (SELECT count(*) FROM __kanon_sizes)
    - (SELECT count(*) FILTER (WHERE passes) FROM __kanon_model_1) AS broken FROM __kanon_model_1
),
__kanon_entries AS MATERIALIZED (  -- what the ledger gets
    SELECT release, person, __kanon_class AS class, source, __kanon_row
    FROM __kanon_owners JOIN __kanon_labels USING (__kanon_row) CROSS JOIN __kanon_numbered
    WHERE __kanon_class >= 0
),
__kanon_exposed AS MATERIALIZED (
    SELECT release, person, class FROM __kanon_ledger
    UNION ALL
    SELECT release, person, class FROM __kanon_entries
),
__kanon_histories_after AS MATERIALIZED (  -- the different histories, and how many persons have each
    SELECT row_number() OVER () AS history, steps, persons
    FROM (SELECT steps, count(*) AS persons
          FROM (SELECT list_sort(list({'release': release, 'class': class}), 'ASC', 'NULLS LAST')
                           AS steps
                FROM __kanon_exposed GROUP BY person)
          GROUP BY steps)
),
__kanon_steps_after AS MATERIALIZED (
    SELECT history, persons, len(steps) AS length, steps[len(steps)].release AS last_release,
           unnest(steps) AS step
    FROM __kanon_histories_after
),
__kanon_crowds_after AS MATERIALIZED (  -- of each history: those who have it, and who have all its steps
    SELECT history, persons, last_release, sum(others)::BIGINT AS crowd
    FROM (SELECT mine.history, any_value(mine.persons) AS persons,
                 any_value(mine.last_release) AS last_release, any_value(theirs.persons) AS others
          FROM __kanon_steps_after AS mine JOIN __kanon_steps_after AS theirs ON mine.step = theirs.step
          GROUP BY mine.history, theirs.history
          HAVING count(*) = any_value(mine.length))
    GROUP BY history, persons, last_release
),
__kanon_linked AS MATERIALIZED (
    SELECT min(crowd) AS all_crowds,
           min(CASE WHEN last_release = release THEN crowd END) AS crowd
    FROM __kanon_crowds_after CROSS JOIN __kanon_numbered
),
__kanon_members AS MATERIALIZED (
    SELECT pairs.history AS combination, entries.__kanon_row
    FROM (SELECT mine.history, theirs.history AS others
          FROM __kanon_steps_after AS mine JOIN __kanon_steps_after AS theirs
              ON mine.step = theirs.step
          WHERE mine.last_release = (SELECT release FROM __kanon_numbered)
          GROUP BY mine.history, theirs.history
          HAVING count(*) = any_value(mine.length)) AS pairs
    JOIN __kanon_histories_after AS histories ON histories.history = pairs.others
    JOIN (SELECT person,
                 list_sort(list({'release': release, 'class': class}), 'ASC', 'NULLS LAST') AS steps
          FROM __kanon_exposed GROUP BY person) AS lives USING (steps)
    JOIN __kanon_entries AS entries USING (person)
),
__kanon_histogram_0_crowds AS MATERIALIZED (  -- persons of each value in each crowd
    SELECT combination, decode(encode(__kanon_key("disease"))) AS label, count(*) AS size
    FROM __kanon_members JOIN __kanon_labelled USING (__kanon_row)
    GROUP BY combination, decode(encode(__kanon_key("disease")))
),
__kanon_domain_0_crowds AS (FROM __kanon_domain_0),
__kanon_whole_0_crowds AS (FROM __kanon_whole_0),
__kanon_spread_0_crowds AS MATERIALIZED (  -- the persons of each crowd
    SELECT combination, sum(size)::BIGINT AS size, count(label) AS different,
           coalesce(sum(size) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing
    FROM __kanon_histogram_0_crowds GROUP BY combination
),
__kanon_placed_0_crowds AS (  -- persons of each value in each crowd, and among all
    SELECT combination, __kanon_domain_0.label, place, size, many
    FROM __kanon_histogram_0_crowds AS crowds JOIN __kanon_domain_0
        ON crowds.label IS NOT DISTINCT FROM __kanon_domain_0.label
),
__kanon_line_1_crowds AS MATERIALIZED (  -- of each value: rows with it or a lower one, and sums of these
    SELECT place, whole, upto, position, gap,
           coalesce(system.main.sum(upto) OVER lower, 0) AS area,
           coalesce(system.main.sum(upto::DOUBLE / whole * gap) OVER lower, 0) AS moment
    FROM (SELECT place, position, upto::HUGEINT AS upto, whole::HUGEINT AS whole,
                 coalesce(system.main.min(position) OVER (
                     ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING), position)
                     - position AS gap
          FROM (SELECT place, 0 AS position, system.main.sum(many) OVER () AS whole,
                       system.main.sum(many) OVER (ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS upto
                FROM __kanon_domain_0_crowds WHERE label IS NOT NULL AND (SELECT ordered FROM __kanon_whole_0_crowds)))
    WINDOW lower AS (ORDER BY place ASC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
__kanon_own_1_crowds AS (  -- of each value of a combination: its rows with it or a lower one
    SELECT combination, place, position, area, moment, whole,
           seen::HUGEINT AS seen, total::HUGEINT AS total,
           coalesce(system.main.min(place) OVER next, last_place) AS next_place,
           coalesce(system.main.min(position) OVER next, last_position) AS next_position,
           coalesce(system.main.min(area) OVER next, last_area) AS next_area,
           coalesce(system.main.min(moment) OVER next, last_moment) AS next_moment
    FROM (SELECT *, system.main.sum(size) OVER (PARTITION BY combination) AS total,
                 system.main.sum(size) OVER (
                     PARTITION BY combination ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS seen
          FROM (SELECT combination, place, size FROM __kanon_placed_0_crowds WHERE label IS NOT NULL AND (SELECT ordered FROM __kanon_whole_0_crowds))
          JOIN __kanon_line_1_crowds USING (place))
    CROSS JOIN (SELECT max(place) AS last_place, max(position) AS last_position,
                       max(area) AS last_area, max(moment) AS last_moment
                FROM __kanon_line_1_crowds)
    WINDOW next AS (
        PARTITION BY combination ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)
),
__kanon_parted_1_crowds AS (  -- where the share of all rows passes that of the combination
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
    FROM __kanon_own_1_crowds AS own
    ASOF LEFT JOIN __kanon_line_1_crowds AS line ON seen * own.whole // total >= line.upto
),
__kanon_moved_1_crowds AS MATERIALIZED (  -- ranks: times total times whole; gaps: as a share
    SELECT combination,
           any_value(total) * min(area) + sum(
               level * (x - place) - total * (area_x - area)
               + total * (next_area - area_x) - level * (next_place - x)) AS ranks,
           min(moment) + sum(
               seen::DOUBLE / total * (position_x - position) - (moment_x - moment)
               + (next_moment - moment_x) - seen::DOUBLE / total * (next_position - position_x)
               ORDER BY place ASC) AS gaps
    FROM __kanon_parted_1_crowds GROUP BY combination
),
__kanon_held_0_crowds AS MATERIALIZED (  -- all of it at once
    SELECT combination, size, any_value(missing) AS missing, any_value(whole) AS whole,
           sum(greatest(0, rows_of::HUGEINT * whole - size::HUGEINT * rows_of_all)) AS above_1_crowds
    FROM (SELECT combination, label, size, missing, rows_of, rows_of_all, whole,
                 rows_of::DOUBLE / size AS own, rows_of_all::DOUBLE / whole AS overall
          FROM (SELECT combination, label, size AS rows_of, many AS rows_of_all
                FROM __kanon_placed_0_crowds)
          JOIN (SELECT combination, size, missing FROM __kanon_spread_0_crowds) USING (combination)
          CROSS JOIN (SELECT many AS whole FROM __kanon_whole_0_crowds))
    GROUP BY combination, size
),
__kanon_model_0_crowds AS MATERIALIZED (
    SELECT combination, size, found >= 2 AS passes, found::DOUBLE AS has
    FROM (SELECT combination, size, different AS found FROM __kanon_spread_0_crowds)
),
__kanon_model_1_crowds AS MATERIALIZED (
    SELECT combination, size, passes, has FROM (
    SELECT combination, size,
           CASE WHEN absent = 0 AND steps > 0 THEN coalesce(ranks * 2::HUGEINT <= 1::HUGEINT * steps * size * whole, false)
                WHEN steps <= 0 AND absent = 0 THEN true
                ELSE away <= 0.5::DOUBLE - 1e-12 END AS passes,
           CASE WHEN absent = 0 AND steps > 0 AND steps > 0
                THEN ranks::DOUBLE / (steps::DOUBLE * size * whole) ELSE away END AS has
    FROM (SELECT *, abs(missing / size - absent / whole) + least(
                     1 - missing / size, 1 - absent / whole) * coalesce(CASE WHEN steps > 0 THEN ranks::DOUBLE / (steps::DOUBLE * (size - missing) * (whole - absent)) END, 0) AS away
          FROM (SELECT combination, size::HUGEINT AS size, missing::DOUBLE AS missing
                FROM __kanon_spread_0_crowds)
          CROSS JOIN (SELECT many::HUGEINT AS whole, different - 1 AS steps,
                             missing::DOUBLE AS absent
                      FROM __kanon_whole_0_crowds)
          LEFT JOIN __kanon_moved_1_crowds USING (combination))
    ) WHERE (SELECT ordered FROM __kanon_whole_0_crowds)
    UNION ALL
    SELECT combination, size, passes, has FROM (
    SELECT combination, size::HUGEINT AS size, above_1_crowds * 2::HUGEINT <= 1::HUGEINT * size::HUGEINT * whole AS passes,
           above_1_crowds::DOUBLE / (size::DOUBLE * whole) AS has
    FROM __kanon_held_0_crowds
    ) WHERE NOT (SELECT ordered FROM __kanon_whole_0_crowds)
),
__kanon_models_of_crowds AS MATERIALIZED (
    SELECT max(broken) AS broken FROM (SELECT (SELECT count(DISTINCT combination) FROM __kanon_members)
        - (SELECT count(*) FILTER (WHERE passes) FROM __kanon_model_0_crowds) AS broken
        UNION ALL
        SELECT (SELECT count(DISTINCT combination) FROM __kanon_members)
        - (SELECT count(*) FILTER (WHERE passes) FROM __kanon_model_1_crowds) AS broken)
),
__kanon_check AS MATERIALIZED (  -- nothing comes out unless this passes
    SELECT CASE
        WHEN NOT (SELECT passed FROM __kanon_unshadowed) THEN false
        WHEN NOT (SELECT passed FROM __kanon_accounted) THEN false
        WHEN min(__kanon_size) < 4
            THEN __kanon_refuse('ReleaseError', format('The release was stopped: a class of released values has {} rows, fewer than k = 4. Nothing was released; please report this as a bug of the method mdav_star.', min(__kanon_size)))
        WHEN coalesce((SELECT strangers > 0 FROM __kanon_persons), true) THEN __kanon_refuse('ReleaseError', format( 'The column ''name'' is NULL in rows that would be released, in {} classes. Fill it, or leave these rows out.', (SELECT strangers FROM __kanon_persons)))
        WHEN coalesce((SELECT fewest < 4 FROM __kanon_persons), true) THEN __kanon_refuse('ReleaseError', format( 'The release was stopped: a class of released values has {} persons, fewer than k = 4. Nothing was released; please report this as a bug of the method mdav_star.', (SELECT fewest FROM __kanon_persons)))
        WHEN coalesce((SELECT places <> everybody FROM __kanon_persons), true) THEN __kanon_refuse('ReleaseError', format( 'The release was stopped: {} times rows of a person are in another class than the rest. Nothing was released; please report this as a bug of the method mdav_star.', (SELECT places - everybody FROM __kanon_persons)))
        WHEN coalesce((SELECT broken FROM __kanon_models WHERE model = 0), 1) > 0 THEN __kanon_refuse('ReleaseError', concat( 'The release was stopped: ', (SELECT broken FROM __kanon_models WHERE model = 0), ' of its classes don''t keep distinct_l_diversity with l = 2 for the column ''disease''. Nothing was released; please report this as a bug of the method mdav_star.'))
        WHEN coalesce((SELECT broken FROM __kanon_models WHERE model = 1), 1) > 0 THEN __kanon_refuse('ReleaseError', concat( 'The release was stopped: ', (SELECT broken FROM __kanon_models WHERE model = 1), ' of its classes don''t keep t_closeness with t = 0.5 for the column ''disease''. Nothing was released; please report this as a bug of the method mdav_star.'))
        WHEN (SELECT crowd < 4 FROM __kanon_linked)
            THEN __kanon_refuse('ReleaseError', (SELECT format('The release was stopped: together with those before it, it leaves a person with an anonymity set of {}, below k = 4. Nothing was released; please report this as a bug.', crowd) FROM __kanon_linked))
        WHEN (SELECT all_crowds < (SELECT coalesce(least, 1) FROM __kanon_stored) FROM __kanon_linked)
            THEN __kanon_refuse('ReleaseError', (SELECT format('The release was stopped: together with those before it, it leaves a person with an anonymity set of {}, below the ledger''s k = {}. Nothing was released; please report this as a bug.', all_crowds, (SELECT coalesce(least, 1) FROM __kanon_stored)) FROM __kanon_linked))
        WHEN (SELECT coalesce(broken, 1) > 0 FROM __kanon_models_of_crowds)
            THEN __kanon_refuse('ReleaseError', 'The release was stopped: together with those before it, it leaves a person with an anonymity set that doesn''t keep the privacy models. Nothing was released; please report this as a bug.')
        WHEN (SELECT typeof({'age': "age", 'zip': "zip"}) FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_classes WHERE false) AS __kanon_none ON true))
             <> (SELECT min(typeof(published)) FROM __kanon_frozen)
            THEN __kanon_refuse('DataError', 'The classes of the ledger ''releases'' would publish values of other types now. Cast the columns to the types that they had.')
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
        WHEN false
            THEN __kanon_refuse(
                'ReleaseError', format('The release was stopped: it leaves out more persons than suppress = 0.0 allows, with {} rows. Nothing was released; please report this as a bug of the method mdav_star.', any_value(__kanon_out)::BIGINT))
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
    (SELECT __kanon_classes.* EXCLUDE (__kanon_class), __kanon_labelled."disease"
     FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class))
)
SELECT __kanon_without_statistics(COLUMNS(__kanon.*))
FROM __kanon_released AS __kanon, __kanon_check
WHERE __kanon_check.passed
ORDER BY md5(concat('7 ', __kanon_row_text(row(*COLUMNS(__kanon.*))))) ASC
