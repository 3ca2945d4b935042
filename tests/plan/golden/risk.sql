-- anonymize_risk('patients', k := 5, quasi_identifiers := ['age', 'zip'], population := 'patients')
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
__kanon_kept AS (SELECT __kanon.* FROM "patients" AS __kanon
    WHERE __kanon_has(COLUMNS(['age', 'zip']))),
__kanon_columns AS (
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(COLUMNS(['age', 'zip']))
          FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_kept WHERE false) AS __kanon_none ON true))
),
__kanon_sizes AS MATERIALIZED (  -- rows per combination, as a reader tells them apart, and its values
    SELECT count(*) AS __kanon_size, NULL::DOUBLE AS __kanon_people, any_value(COLUMNS(['age', 'zip'])) AS '__kanon_value_\0',
           __kanon_seen(COLUMNS(['age', 'zip'])), __kanon_printed(COLUMNS(['age', 'zip']))
    FROM __kanon_kept GROUP BY ALL
),
__kanon_everybody AS MATERIALIZED (
    SELECT count(*) AS there, [__kanon_key("age"), __kanon_key("zip")] AS cells FROM "patients" AS __kanon
    WHERE __kanon_has("age") AND __kanon_has("zip") GROUP BY ALL
),
__kanon_met AS (
    SELECT here, greatest(coalesce(there, 0), here)::DOUBLE AS people,
           CASE WHEN coalesce(there, 0) < here THEN here ELSE 0 END AS short
    FROM (SELECT count(*) AS here, [__kanon_key("age"), __kanon_key("zip")] AS cells FROM __kanon_kept GROUP BY ALL)
    LEFT JOIN __kanon_everybody USING (cells)
),
__kanon_pairs AS MATERIALIZED (  -- classes by their rows here, and by their people
    SELECT here, people, count(*) AS classes, sum(short)::BIGINT AS short FROM __kanon_met GROUP BY ALL
),
__kanon_begun AS MATERIALIZED (  -- begins to look at all subsets of columns; a ticket out
    SELECT __kanon_risk(
        (SELECT list({'size': __kanon_size, 'cells': cells}) FROM (SELECT __kanon_size, [*COLUMNS(* EXCLUDE (__kanon_size))] AS cells FROM (SELECT __kanon_size, __kanon_key(COLUMNS('^__kanon_value_')) FROM __kanon_sizes))),
        (SELECT columns FROM __kanon_columns),
        (SELECT list({'size': size, 'classes': classes})
         FROM (SELECT __kanon_size AS size, count(*) AS classes FROM __kanon_sizes GROUP BY ALL)),
        (SELECT list({'here': here, 'people': people, 'classes': classes}) FROM __kanon_pairs),
        (SELECT sum(there)::DOUBLE FROM __kanon_everybody),
        '{"k": 5, "msu_columns": null, "subset_columns": 2, "weighted": false}') AS ticket
),
__kanon_waited AS MATERIALIZED (  -- asks in turns whether it is done, so that an interrupt is heard
    SELECT turn FROM range(1000000000000) AS __kanon_turns(turn) CROSS JOIN __kanon_begun
    WHERE __kanon_wait(ticket, turn) LIMIT 1
),
__kanon_measured AS MATERIALIZED (
    SELECT CASE WHEN audited.error IS NULL THEN audited.facts
                ELSE __kanon_refuse(audited.error.kind, audited.error.sentence) END AS facts
    FROM (SELECT __kanon_audited(ticket, turn) AS audited
          FROM __kanon_begun CROSS JOIN __kanon_waited)
),
__kanon_facts AS (
    SELECT *
    FROM (SELECT coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
                 count(*) AS classes,
                 min(__kanon_size) AS smallest,
                 count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
                 coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < 5), 0)::BIGINT AS below,
                 sum(__kanon_size::HUGEINT * __kanon_size)::DOUBLE AS squares,
                 (SELECT facts FROM __kanon_measured) AS measured
          FROM __kanon_sizes)
    CROSS JOIN (
        SELECT min(people) AS least,
               __kanon_added(classes * here / people) AS found,
               coalesce(sum(here * classes) FILTER (WHERE people < 5), 0)::BIGINT AS people_below,
               sum(short)::BIGINT AS short,
               coalesce(sum(classes) FILTER (WHERE people = 1), 0)::BIGINT AS alone
        FROM __kanon_pairs)
    CROSS JOIN (SELECT (SELECT sum(there)::DOUBLE FROM __kanon_everybody) AS people, (SELECT count(*) FILTER (WHERE there = 1) FROM __kanon_everybody) AS people_unique)
)
SELECT unnest(list_concat([
    {'metric': 'rows', 'value': ("rows")::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows of the table'},
    {'metric': 'classes', 'value': (classes)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'classes', 'in_words': NULL::VARCHAR, 'description': 'distinct combinations of quasi-identifiers'},
    {'metric': 'uniques', 'value': (uniques)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows that share their quasi-identifiers with no other row; lower is better'},
    {'metric': 'distinctness', 'value': (classes::DOUBLE / nullif("rows", 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'classes per row, the largest share of the rows that can be kept so that the quasi-identifiers are a key (Motwani and Xu 2007); lower is better'},
    {'metric': 'separation', 'value': (CASE WHEN "rows" > 1 THEN 1 - (squares - "rows") / ("rows"::DOUBLE * ("rows" - 1)) END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'pairs of rows that differ in at least one quasi-identifier (Motwani and Xu 2007); lower is better'},
    {'metric': 'prosecutor_risk_max', 'value': (1.0::DOUBLE / smallest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'in_words': NULL::VARCHAR, 'description': 'largest chance that an attacker who knows that a person is in the table, and knows the quasi-identifiers, finds the row: 1 / rows of the smallest class; lower is better'},
    {'metric': 'prosecutor_risk_mean', 'value': (classes::DOUBLE / nullif("rows", 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'in_words': NULL::VARCHAR, 'description': 'mean of the prosecutor risk over the rows; lower is better'},
    {'metric': 'prosecutor_risk_rows_above', 'value': (CASE WHEN 5 IS NOT NULL THEN below END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows with a prosecutor risk above 1 / k; NULL without k; 0 is best'},
    {'metric': 'journalist_risk_max', 'value': (1.0::DOUBLE / least)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'in_words': NULL::VARCHAR, 'description': 'largest chance that an attacker who knows the population, but not which of its people are in the table, identifies the person of a row: 1 / people of its class. NULL without population or sampling_weight; lower is better'},
    {'metric': 'journalist_risk_mean', 'value': (found / nullif("rows", 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'in_words': NULL::VARCHAR, 'description': 'mean of the journalist risk over the rows; lower is better'},
    {'metric': 'journalist_risk_rows_above', 'value': (CASE WHEN 5 IS NOT NULL THEN CASE WHEN least IS NOT NULL THEN people_below END END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows with a journalist risk above 1 / k; NULL without k; 0 is best'},
    {'metric': 'marketer_risk', 'value': (coalesce(found, classes::DOUBLE) / nullif("rows", 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'expected share of rows that an attacker re-identifies correctly by linking every row to the population, or without population or sampling_weight to the people of the table; lower is better'},
    {'metric': 'k_map', 'value': (least)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'people', 'in_words': NULL::VARCHAR, 'description': 'people of the population in the smallest class that has a row here; higher is better'},
    {'metric': 'population_unique_rows', 'value': (CASE WHEN least IS NOT NULL THEN alone END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows whose person is alone in the class in the population; 0 is best'},
    {'metric': 'population_short', 'value': (short)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows of classes with fewer people in the population, by the relation or the weights, than rows here; as many people as rows are then assumed. Above 0, the population or the weights are wrong'},
    {'metric': 'individual_risk_max', 'value': ((measured ->> 'individual_max')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'in_words': NULL::VARCHAR, 'description': 'largest individual risk: the mean of 1 / people, where the people of a class vary randomly around the sum of its weights (Benedetti and Franconi 1998, exact for classes of any size); NULL without sampling_weight; lower is better'},
    {'metric': 'individual_risk_mean', 'value': ((measured ->> 'individual_mean')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'in_words': NULL::VARCHAR, 'description': 'mean of the individual risk over the rows; lower is better'},
    {'metric': 'individual_risk_rows_above', 'value': (CASE WHEN 5 IS NOT NULL THEN (measured ->> 'individual_above')::DOUBLE END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows with an individual risk above 1 / k; NULL without k; 0 is best'},
    {'metric': 'population_size', 'value': (people)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'people', 'in_words': NULL::VARCHAR, 'description': 'people in the population: those of population, the sum of the weights, or population_size'},
    {'metric': 'sampling_fraction', 'value': (CASE WHEN people > 0 THEN "rows" / people END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'rows per person of the population'},
    {'metric': 'population_uniques', 'value': (people_unique)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'people', 'in_words': NULL::VARCHAR, 'description': 'people who are alone in their class in the population, counted; NULL without population'},
    {'metric': 'population_uniques_pitman', 'value': ((measured ->> 'pitman')::DOUBLE)::DOUBLE::DOUBLE, 'text': CASE WHEN "rows" < 0.04995 * people THEN format('the rows are {:.2f} % of the population: below 5 %, this estimate is unreliable', 100.0 * "rows" / people) END::VARCHAR, 'unit': 'people', 'in_words': NULL::VARCHAR, 'description': 'population_uniques, estimated by Pitman''s sampling formula (Hoshino 2001). The best estimate if the rows are at least 5 % of the population and much of it is unique; several times too high if little is unique. NULL if no parameters fit, or if the population_size is unknown'},
    {'metric': 'population_uniques_zayatz', 'value': ((measured ->> 'zayatz')::DOUBLE)::DOUBLE::DOUBLE, 'text': CASE WHEN "rows" < 0.04995 * people THEN format('the rows are {:.2f} % of the population: below 5 %, this estimate is unreliable', 100.0 * "rows" / people) END::VARCHAR, 'unit': 'people', 'in_words': NULL::VARCHAR, 'description': 'population_uniques, estimated as in Zayatz (1991), as if classes were as large in the population as here; too high if the sample is small'},
    {'metric': 'minimal_sample_uniques', 'value': ((measured ->> 'uniques')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'pairs', 'in_words': NULL::VARCHAR, 'description': 'pairs of a row and a set of columns (up to msu_columns) in which the row is unique, while it is not unique without any one of them (Elliot, Manning and Ford 2002); lower is better'},
    {'metric': 'msu_rows', 'value': ((measured ->> 'unique_rows')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'in_words': NULL::VARCHAR, 'description': 'rows with a minimal sample unique; lower is better'},
    {'metric': 'msu_columns_min', 'value': ((measured ->> 'least_columns')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'columns', 'in_words': NULL::VARCHAR, 'description': 'columns of the smallest minimal sample unique: an attacker who knows this few values of a person may find the row; higher is better'},
    {'metric': 'dis_score_max', 'value': ((measured ->> 'dis_max')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'in_words': NULL::VARCHAR, 'description': 'largest DIS score of a row: an estimate of the chance that a match with it is right, shared out among the sample uniques by how many and how small their minimal sample uniques are (Skinner and Elliot 2002, DIS-SUDA). NULL if the population_size is unknown, or msu_columns is below the number of columns; lower is better'},
    {'metric': 'dis_score_mean', 'value': ((measured ->> 'dis_mean')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'in_words': NULL::VARCHAR, 'description': 'mean of the DIS score over the rows, 0 for rows that are not unique; lower is better'}
], list_transform(
    from_json(measured -> 'columns', '[{"name": "VARCHAR", "share": "DOUBLE"}]'),
    lambda entry: {
        'metric': 'drives_risk' || ' (' || entry.name || ')', 'value': entry.share,
        'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'minimal sample uniques that include this column; generalize the columns with the highest share first'}
), list_transform(
    from_json(measured -> 'subsets', '[{"name": "VARCHAR", "distinctness": "DOUBLE"}]'),
    lambda entry: {
        'metric': 'distinctness' || ' (' || entry.name || ')', 'value': entry.distinctness,
        'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'distinctness of these columns alone'}
), list_transform(
    from_json(measured -> 'subsets', '[{"name": "VARCHAR", "separation": "DOUBLE"}]'),
    lambda entry: {
        'metric': 'separation' || ' (' || entry.name || ')', 'value': entry.separation,
        'text': NULL::VARCHAR, 'unit': 'share', 'in_words': NULL::VARCHAR, 'description': 'separation of these columns alone'}
)), max_depth := 2)
FROM __kanon_facts, __kanon_unshadowed
WHERE __kanon_unshadowed.passed AND CASE
        WHEN EXISTS (SELECT 1 FROM duckdb_columns() WHERE list_contains(from_json('["patients"]', '["VARCHAR"]'), __kanon_caseless(table_name)) AND __kanon_declares(comment) AND NOT list_contains(from_json('[]', '["VARCHAR"]'), concat( database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment)) AND NOT list_contains(from_json('["age", "zip"]', '["VARCHAR"]'), __kanon_caseless(column_name)))
            THEN __kanon_refuse('OptionError', 'The column comments of "patients" declare roles that are not committed yet. Commit first, or give these columns their roles in the call.')
        ELSE true END
