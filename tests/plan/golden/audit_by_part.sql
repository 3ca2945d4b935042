-- k_anonymity('patients', quasi_identifiers := ['age'], within := ['job', 'zip'], by_part := True, k := 4)
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
__kanon_sizes AS MATERIALIZED (
    SELECT count(*) AS __kanon_size, any_value("job") AS __kanon_of_0, any_value("zip") AS __kanon_of_1, row(__kanon_seen("job"), __kanon_printed("job"), __kanon_seen("zip"), __kanon_printed("zip")) AS __kanon_part, __kanon_seen(COLUMNS(['age'])), __kanon_printed(COLUMNS(['age']))
    FROM "patients" AS __kanon
    WHERE __kanon_has(COLUMNS(['age', 'job', 'zip'])) GROUP BY ALL
)
SELECT any_value(__kanon_of_0) AS "job", any_value(__kanon_of_1) AS "zip",
       min(__kanon_size) AS k,
       sum(__kanon_size)::BIGINT AS "rows",
       count(*) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       4::BIGINT AS k_asked,
       CASE WHEN 4 IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < 4) END AS classes_below_k,
       CASE WHEN 4 IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < 4), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean
FROM __kanon_sizes, __kanon_sound
WHERE __kanon_sound.sound AND CASE
        WHEN EXISTS (SELECT 1 FROM duckdb_columns() WHERE list_contains(from_json('["patients"]', '["VARCHAR"]'), __kanon_caseless(table_name)) AND regexp_matches(comment, '(?:^|[^a-z])((?:kanon(?:[_.-]?[a-z0-9]+(?:[_.-][a-z0-9]+)*|[ ](?:sql|role|type|class|tag))?|(?:kanon|[a-z]kanon|anon|[a-z]anon|aknon|k[a-z]anon|knon|k[a-z]non|knaon|ka[a-z]non|kaon|ka[a-z]on|kaonn|kan[a-z]on|kann|kan[a-z]n|kanno|kano[a-z]n|kano|kano[a-z]|kanon[a-z])(?:[ _.-]?sql)?)[ \t\r\n\"''`)\]*]*(?::|=|->|\x{FF1A})|(?:kanon|k[a-z]anon|knon|k[a-z]non|knaon|ka[a-z]non|kaon|ka[a-z]on|kaonn|kan[a-z]on|kann|kan[a-z]n|kanno|kano[a-z]n|kano|kano[a-z]|kanon[a-z])(?:[ _.-]?sql)?[^a-z0-9,;]*(?:quasi|qi(?:$|[^a-z])|(?:within|others?)[ \t\r\n]*(?:$|[.,;()|\n])|(?:quasi|q[a-z]uasi|qasi|q[a-z]asi|qausi|qu[a-z]asi|qusi|qu[a-z]si|qusai|qua[a-z]si|quai|qua[a-z]i|quais|quas[a-z]i|quas|quas[a-z]|quasi[a-z])|(?:sensitive|s[a-z]ensitive|snsitive|s[a-z]nsitive|snesitive|se[a-z]nsitive|sesitive|se[a-z]sitive|sesnitive|sen[a-z]sitive|senitive|sen[a-z]itive|senistive|sens[a-z]itive|senstive|sens[a-z]tive|senstiive|sensi[a-z]tive|sensiive|sensi[a-z]ive|sensiitve|sensit[a-z]ive|sensitve|sensit[a-z]ve|sensitvie|sensiti[a-z]ve|sensitie|sensiti[a-z]e|sensitiev|sensitiv[a-z]e|sensitiv|sensitiv[a-z]|sensitive[a-z])|(?:identifier|i[a-z]dentifier|ientifier|i[a-z]entifier|iedntifier|id[a-z]entifier|idntifier|id[a-z]ntifier|idnetifier|ide[a-z]ntifier|idetifier|ide[a-z]tifier|idetnifier|iden[a-z]tifier|idenifier|iden[a-z]ifier|idenitfier|ident[a-z]ifier|identfier|ident[a-z]fier|identfiier|identi[a-z]fier|identiier|identi[a-z]ier|identiifer|identif[a-z]ier|identifer|identif[a-z]er|identifeir|identifi[a-z]er|identifir|identifi[a-z]r|identifire|identifie[a-z]r|identifie|identifie[a-z]|identifier[a-z])|(?:entity|e[a-z]ntity|etity|e[a-z]tity|etnity|en[a-z]tity|enity|en[a-z]ity|enitty|ent[a-z]ity|entty|ent[a-z]ty|enttiy|enti[a-z]ty|entiy|enti[a-z]y|entiyt|entit[a-z]y|entit|entit[a-z]|entity[a-z])))|^[^a-z0-9]*(kanon(?:[ _.-]?sql)?(?:[^a-z0-9]+[a-z0-9]+)?[^a-z0-9]*$)', 'i') AND NOT list_contains(from_json('[]', '["VARCHAR"]'), concat( database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment)) AND NOT list_contains(from_json('["age", "job", "zip"]', '["VARCHAR"]'), __kanon_caseless(column_name)))
            THEN __kanon_refuse('OptionError', 'The column comments of "patients" declare roles that are not committed yet. Commit first, or give these columns their roles in the call.')
        ELSE true END
GROUP BY __kanon_part
ORDER BY any_value(__kanon_of_0) ASC NULLS LAST, any_value(__kanon_of_1) ASC NULLS LAST, encode(any_value(__kanon_of_0)::VARCHAR) ASC NULLS LAST, encode(any_value(__kanon_of_1)::VARCHAR) ASC NULLS LAST
