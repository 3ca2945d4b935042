-- anonymize_audit('patients', release := 'patients', k := 4, sensitive := ['disease'], class_label := 'job', sensitive_values := ['Flu'], hierarchies := {'zip': 'prefix'})
WITH __kanon_sound AS MATERIALIZED (  -- refuses macros and settings that would change what follows
    SELECT CASE
        WHEN coalesce(system.main.current_setting('default_collation'), '') <> ''
            THEN system.main.error('The setting default_collation is on, which would change what the query means. RESET it, and give a collation to the columns that need one.')
        WHEN name IS NOT NULL THEN system.main.error(system.main.format('The database has a macro named ''{}'', which would change what the query means. Drop or rename it, or attach the database to another one and name the table with its database, for example ''file.main.patients''.', name))
        ELSE true END AS sound
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
        'cast_to_type', 'concat', 'contains', 'count', 'count_star', 'decode', 'dense_rank',
        'duckdb_columns', 'encode', 'epoch_us', 'floor', 'format', 'from_json',
        'generate_series', 'generate_subscripts', 'greatest', 'hash', 'histogram', 'if',
        'isfinite', 'isinf', 'isnan', 'json_extract', 'least', 'len', 'list', 'list_aggr',
        'list_aggregate', 'list_concat', 'list_contains', 'list_distinct', 'list_filter',
        'list_grade_up', 'list_max', 'list_min', 'list_position', 'list_select', 'list_sort',
        'list_sum', 'list_transform', 'list_value', 'list_zip', 'make_timestamp',
        'make_timestamptz', 'map_entries', 'map_to_pg_oid', 'map_values', 'max', 'md5',
        'md5_number', 'min', 'nullif', 'quantile_disc', 'range', 'regexp_full_match',
        'regexp_matches', 'regexp_replace', 'replace', 'row', 'row_number', 'sha256', 'signbit',
        'split_part', 'starts_with', 'string_split', 'strlen', 'struct_extract', 'struct_pack',
        'sum', 'to_json', 'to_microseconds', 'translate', 'typeof', 'unnest', 'version', '||',
        '~~')
  AND (held = 'temp'
       OR ((held = system.main.lower(system.main.current_database())
            OR system.main.contains(path, system.main.concat(',', held, '.'))
            OR system.main.contains(path, system.main.concat(',"', held_quoted, '".')))
           AND (schema_quoted = 'main'
                OR system.main.contains(path, system.main.concat('.', schema_quoted, ','))
                OR system.main.contains(path, system.main.concat('."', schema_quoted, '",'))))))
),
__kanon_kept AS (SELECT __kanon.* FROM "patients" AS __kanon
    WHERE __kanon_has(COLUMNS(['disease', 'job']))),
__kanon_released AS MATERIALIZED (SELECT __kanon.* FROM "patients" AS __kanon
    WHERE __kanon_has(COLUMNS(['disease', 'job']))),
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
__kanon_columns AS (
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(COLUMNS(* EXCLUDE ("disease", "job")))
          FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_kept WHERE false) AS __kanon_none ON true))
),
__kanon_released_columns AS (
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(COLUMNS(* EXCLUDE ("disease", "job")))
          FROM (SELECT __kanon_none.* FROM (SELECT 1) LEFT JOIN (FROM __kanon_released WHERE false) AS __kanon_none ON true))
),
__kanon_cells AS (  -- the quasi-identifiers, and last what passes unchanged
    SELECT [*COLUMNS(*)] AS cells
    FROM (SELECT __kanon_key(COLUMNS(* EXCLUDE ("disease", "job"))), hash(row(__kanon_key("disease"), __kanon_key("job")))::VARCHAR AS __kanon_passing FROM __kanon_kept)
),
__kanon_released_cells AS (
    SELECT [*COLUMNS(*)] AS cells
    FROM (SELECT __kanon_key(COLUMNS(* EXCLUDE ("disease", "job"))), hash(row(__kanon_key("disease"), __kanon_key("job")))::VARCHAR AS __kanon_passing FROM __kanon_released)
),
__kanon_begun AS MATERIALIZED (  -- begins to read what is published: all cells in, a ticket out
    SELECT __kanon_audit(
        (SELECT list(cells) FROM __kanon_cells),
        (SELECT columns FROM __kanon_columns),
        (SELECT list(cells) FROM __kanon_released_cells),
        (SELECT columns FROM __kanon_released_columns),
        '{"categorical": [], "named": ["zip"], "weights": {}}',
        [{'name': 'zip', 'paths': (SELECT paths FROM __kanon_tree_1)}]) AS ticket
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
__kanon_sizes AS (
    SELECT count(*) AS __kanon_size, __kanon_seen(COLUMNS(* EXCLUDE ("disease", "job"))), __kanon_printed(COLUMNS(* EXCLUDE ("disease", "job"))) FROM __kanon_released GROUP BY ALL
),
__kanon_diversity AS (
    SELECT sum(__kanon_size - __kanon_most) AS strangers, coalesce(sum(__kanon_size) FILTER (WHERE __kanon_alike_0), 0) AS alike_0, coalesce(sum(__kanon_size) FILTER (WHERE __kanon_grave_0), 0) AS grave_0 FROM (
        SELECT count(*) AS __kanon_size, __kanon_majority("job") AS __kanon_most, __kanon_alike("disease") AS __kanon_alike_0, __kanon_alike("disease") AND bool_or(__kanon_key("disease") IN ('Flu')) AS __kanon_grave_0, __kanon_seen(COLUMNS(* EXCLUDE ("disease", "job"))), __kanon_printed(COLUMNS(* EXCLUDE ("disease", "job")))
        FROM __kanon_released GROUP BY ALL)
),
__kanon_facts AS (
    SELECT *, rows_in - rows_released AS rows_suppressed
    FROM (SELECT (SELECT count(*) FROM __kanon_kept) AS rows_in,
                 coalesce(sum(__kanon_size), 0)::BIGINT AS rows_released,
                 count(*) AS classes,
                 min(__kanon_size) AS smallest,
                 max(__kanon_size) AS largest,
                 sum(__kanon_size::HUGEINT * __kanon_size)::DOUBLE AS squares,
                 coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < 4), 0) AS below,
                 (SELECT facts FROM __kanon_measured) AS measured
          FROM __kanon_sizes)
    CROSS JOIN __kanon_diversity
)
SELECT unnest(list_concat([
    {'metric': 'rows_in', 'value': (rows_in)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows of the relation'},
    {'metric': 'rows_released', 'value': (rows_released)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows that came out'},
    {'metric': 'rows_suppressed', 'value': (rows_suppressed)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows left out; rows_in = rows_released + rows_suppressed'},
    {'metric': 'classes', 'value': (classes)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'classes', 'description': 'distinct combinations of released values'},
    {'metric': 'class_size_min', 'value': (smallest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows of the smallest class'},
    {'metric': 'class_size_mean', 'value': (rows_released::DOUBLE / nullif(classes, 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows per class on average'},
    {'metric': 'class_size_max', 'value': (largest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows of the largest class'},
    {'metric': 'k_requested', 'value': (4)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'the k that was asked for'},
    {'metric': 'k_reached', 'value': (smallest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'the k that holds, counted on the released values'},
    {'metric': 'rows_below_k', 'value': (CASE WHEN 4 IS NOT NULL THEN below END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows in classes smaller than k; NULL without k'},
    {'metric': 'total_il', 'value': ((measured ->> 'total_il')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'cells', 'description': 'Total-IL of what is released: over all rows, the sum of range / domain of numbers and height of the label / height of the hierarchy of categories (without one 1 for several values), 1 for a cell of which nothing is released, all cells of a suppressed row, and 1 where a range or set hides a NULL (byun2006, definitions 7 and 8); NULL where a column is released as points, which say nothing of a range; lower is better'},
    {'metric': 'ncp', 'value': ((measured ->> 'ncp')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'description': 'total_il per cell: 0 where nothing is lost, 1 where everything is; lower is better'},
    {'metric': 'ncp_at_least', 'value': ((measured ->> 'ncp_at_least')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'description': 'what ncp is at least: that of the cells of which it can be told, and all cells of the rows that the release lacks'},
    {'metric': 'ncp_at_most', 'value': ((measured ->> 'ncp_at_most')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'description': 'what ncp is at most: as ncp_at_least, and 1 for every cell of which it can''t be told'},
    {'metric': 'entropy_loss', 'value': ((measured ->> 'entropy_loss')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'bits per cell', 'description': 'the entropy of the values that a released cell may stand for, by their frequencies in the relation, on average (entropy measure, Gionis and Tassa 2009); NULL where total_il is; lower is better'},
    {'metric': 'cells_unread', 'value': ((measured ->> 'unread')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'cells', 'description': 'released values that are no value, interval, set or label of the source, such as the labels of a hierarchy that the audit isn''t given: what they lose can''t be told'},
    {'metric': 'cells_points', 'value': ((measured ->> 'points')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'cells', 'description': 'released numbers that are no value of the source, such as centroids; they say nothing of a range, so what their column loses can''t be told'},
    {'metric': 'discernibility', 'value': (coalesce(squares, 0) + rows_in::DOUBLE * rows_suppressed)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows squared', 'description': 'sum of squared class sizes, and rows_in for each suppressed row; lower is better'},
    {'metric': 'class_size_ratio', 'value': (rows_released::DOUBLE / nullif(classes, 0) / 4)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'ratio', 'description': 'rows per class on average over k (LeFevre et al. 2006); 1 is best'},
    {'metric': 'classification_metric', 'value': ((strangers + rows_in - rows_released)::DOUBLE / nullif(rows_in, 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'description': 'rows that are suppressed or whose class_label is not that of the majority of their class (Iyengar 2002); NULL without class_label; lower is better'},
    {'metric': 'risk_max', 'value': (1.0::DOUBLE / smallest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'description': 'largest chance that a prosecutor finds a person''s row: 1 / class_size_min'},
    {'metric': 'risk_mean', 'value': (classes::DOUBLE / nullif(rows_released, 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'description': 'chance that a prosecutor finds a person''s row, on average over the rows'},
    {'metric': 'identifiers_released', 'value': (CASE WHEN false THEN coalesce(len(NULL::VARCHAR[]), 0) END)::DOUBLE::DOUBLE, 'text': array_to_string(NULL::VARCHAR[], ', ')::VARCHAR, 'unit': 'columns', 'description': 'identifiers that the release has a column of, by name, the names in the column text; 0 is best; NULL where the call names no identifiers'},
    {'metric': 'identifiers_determined', 'value': (CASE WHEN false THEN coalesce(len(NULL::VARCHAR[]), 0) END)::DOUBLE::DOUBLE, 'text': array_to_string(NULL::VARCHAR[], ', ')::VARCHAR, 'unit': 'columns', 'description': 'other columns that stand unchanged in the release and determine an identifier, since in the source each of their values is that of one identifier only, the names in the column text, with the identifier in parentheses; 0 is best; NULL where the call names no identifiers'},
    {'metric': 'equal_diversity', 'value': (alike_0)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'released rows whose class has one value of the sensitive column only (byun2006, definition 10); lower is better'},
    {'metric': 'sensitive_diversity', 'value': (grave_0)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'those of them whose one value is among sensitive_values; lower is better'}
], list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "ncp": "DOUBLE"}]'),
    lambda attribute: {
        'metric': 'ncp (' || attribute.name || ')', 'value': attribute.ncp,
        'text': NULL::VARCHAR, 'unit': 'share', 'description': 'total_il of this quasi-identifier alone, per row, without its weight; NULL where it can''t be told; lower is better'}
)), max_depth := 2)
FROM __kanon_facts, __kanon_sound
WHERE __kanon_sound.sound AND CASE
        WHEN EXISTS (SELECT 1 FROM duckdb_columns() WHERE list_contains(from_json('["patients"]', '["VARCHAR"]'), __kanon_caseless(table_name)) AND regexp_matches(comment, '(?:^|[^a-z])((?:kanon(?:[_.-]?[a-z0-9]+(?:[_.-][a-z0-9]+)*|[ ](?:sql|role|type|class|tag))?|(?:kanon|[a-z]kanon|anon|[a-z]anon|aknon|k[a-z]anon|knon|k[a-z]non|knaon|ka[a-z]non|kaon|ka[a-z]on|kaonn|kan[a-z]on|kann|kan[a-z]n|kanno|kano[a-z]n|kano|kano[a-z]|kanon[a-z])(?:[ _.-]?sql)?)[ \t\r\n\"''`)\]*]*(?::|=|->|\x{FF1A})|(?:kanon|k[a-z]anon|knon|k[a-z]non|knaon|ka[a-z]non|kaon|ka[a-z]on|kaonn|kan[a-z]on|kann|kan[a-z]n|kanno|kano[a-z]n|kano|kano[a-z]|kanon[a-z])(?:[ _.-]?sql)?[^a-z0-9,;]*(?:quasi|qi(?:$|[^a-z])|(?:within|others?)[ \t\r\n]*(?:$|[.,;()|\n])|(?:quasi|q[a-z]uasi|qasi|q[a-z]asi|qausi|qu[a-z]asi|qusi|qu[a-z]si|qusai|qua[a-z]si|quai|qua[a-z]i|quais|quas[a-z]i|quas|quas[a-z]|quasi[a-z])|(?:sensitive|s[a-z]ensitive|snsitive|s[a-z]nsitive|snesitive|se[a-z]nsitive|sesitive|se[a-z]sitive|sesnitive|sen[a-z]sitive|senitive|sen[a-z]itive|senistive|sens[a-z]itive|senstive|sens[a-z]tive|senstiive|sensi[a-z]tive|sensiive|sensi[a-z]ive|sensiitve|sensit[a-z]ive|sensitve|sensit[a-z]ve|sensitvie|sensiti[a-z]ve|sensitie|sensiti[a-z]e|sensitiev|sensitiv[a-z]e|sensitiv|sensitiv[a-z]|sensitive[a-z])|(?:identifier|i[a-z]dentifier|ientifier|i[a-z]entifier|iedntifier|id[a-z]entifier|idntifier|id[a-z]ntifier|idnetifier|ide[a-z]ntifier|idetifier|ide[a-z]tifier|idetnifier|iden[a-z]tifier|idenifier|iden[a-z]ifier|idenitfier|ident[a-z]ifier|identfier|ident[a-z]fier|identfiier|identi[a-z]fier|identiier|identi[a-z]ier|identiifer|identif[a-z]ier|identifer|identif[a-z]er|identifeir|identifi[a-z]er|identifir|identifi[a-z]r|identifire|identifie[a-z]r|identifie|identifie[a-z]|identifier[a-z])|(?:entity|e[a-z]ntity|etity|e[a-z]tity|etnity|en[a-z]tity|enity|en[a-z]ity|enitty|ent[a-z]ity|entty|ent[a-z]ty|enttiy|enti[a-z]ty|entiy|enti[a-z]y|entiyt|entit[a-z]y|entit|entit[a-z]|entity[a-z])))|^[^a-z0-9]*(kanon(?:[ _.-]?sql)?(?:[^a-z0-9]+[a-z0-9]+)?[^a-z0-9]*$)', 'i') AND NOT list_contains(from_json('[]', '["VARCHAR"]'), concat( database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment)) AND NOT list_contains(from_json('["disease", "job"]', '["VARCHAR"]'), __kanon_caseless(column_name)))
            THEN __kanon_refuse('OptionError', 'The column comments of "patients" declare roles that are not committed yet. Commit first, or give these columns their roles in the call.')
        ELSE true END
