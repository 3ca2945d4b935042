-- name: digest
-- The digest of the rows of a stage, whatever their order: a part of anonymize_manifest('t', k=5).
-- Of each row one, of those that begin alike one together, and one of all these and of the columns.
-- A text stands behind its length in bytes and a colon, and a NULL is a hyphen, so that texts that
-- follow each other can't be taken for others.
SELECT sha256(head || coalesce(array_to_string(
            list_transform(list_sort(parts, 'ASC', 'NULLS LAST'), lambda part: part.digest), ''), ''))
    FROM (SELECT array_to_string([*COLUMNS(*)], '') AS head
          FROM (SELECT strlen(alias(COLUMNS(*))) || ':' || alias(COLUMNS(*))
                    || strlen(__kanon_type(COLUMNS(*))) || ':' || __kanon_type(COLUMNS(*))
                FROM ${one_row}))
    CROSS JOIN (
        SELECT list({'start': start, 'digest': digest}) AS parts
        FROM (SELECT digest[1:3] AS start,
                     sha256(array_to_string(list_sort(list(digest), 'ASC', 'NULLS LAST'), '')) AS digest
              FROM (${row_digests})
              GROUP BY digest[1:3]))

-- name: row_digests
-- The digest of each row of a stage, in its order: a part of the digest of all.
SELECT sha256(concat(*COLUMNS(*))) AS digest
              FROM (SELECT CASE WHEN COLUMNS(*) IS NULL THEN '-'
                                ELSE concat(strlen(COLUMNS(*)), ':', COLUMNS(*)) END
                    FROM (SELECT __kanon_text(COLUMNS(*)) FROM ${stage}))

-- name: digest_call
-- The digest of the rows of a relation, whatever their order, for Python: one value.
WITH ${unshadowed}
SELECT (${digest}) AS digest FROM __kanon_unshadowed WHERE __kanon_unshadowed.passed

-- name: fingerprint
-- What tells for Python whether a relation is still what it was: its rows, in any order. Their keys,
-- by which DuckDB sorts, tell apart what a collation doesn't, inside of lists and structs, too.
SELECT system.main.count(*), system.main.bit_xor(hash), system.main.sum(hash)
FROM (SELECT system.main.hash(system.main.create_sort_key(__kanon, 'ASC NULLS FIRST')) AS hash
      FROM ${relation} AS __kanon)

-- name: class_sizes
-- How many classes of each size a release has, for Python: FROM released GROUP BY its columns.
SELECT size, count(*) AS classes
FROM (SELECT count(*) AS size FROM ${relation} GROUP BY ${columns})
GROUP BY size ORDER BY size

-- name: copy
-- Writes a release into a file, with its manifest in the footer.
COPY ${rows} TO ${path} (
    FORMAT parquet, COMPRESSION zstd, PRESERVE_ORDER true, USE_TMP_FILE false,
    KV_METADATA {${key}: ${manifest}}
)

-- name: call
-- What a release is, to stand beside it: FROM anonymize_manifest('patients', k=5).
WITH ${facts},
${typed}
${stages}
SELECT unnest(${entries}, max_depth := 2)${every}
${of_stages}

-- name: written
-- A release and its manifest in one query, for the file that has both: each row, and behind them all
-- entries of the manifest as one list, which a digest of the rows is still missing from.
WITH ${facts},
${released},
${typed}
${stages}
(SELECT *, NULL AS __kanon_manifest
 FROM (${rows}))
UNION ALL BY NAME
(SELECT ${entries} AS __kanon_manifest
${of_stages})

-- name: typed
-- What comes out, in any order: a part of anonymize_manifest('t', k=5).
${name} AS NOT MATERIALIZED (  -- what comes out, in any order
    (SELECT __kanon_blank(COLUMNS(* EXCLUDE (${dropped}))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT __kanon_classes.* EXCLUDE (__kanon_class)${passing}
     FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class))
),

-- name: stages
-- What the entries of a manifest are made of: a part of anonymize_manifest('t', k=5).
__kanon_types AS (  -- name and type of each column that comes out
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT [alias(COLUMNS(*)), __kanon_type(COLUMNS(*))]
          FROM ${one_released})
),
__kanon_digest AS MATERIALIZED (
    SELECT CASE WHEN zoned IS NOT NULL
                THEN __kanon_refuse('DataError', format(${zoned_error}, zoned))
                ELSE digest END AS digest
    FROM (SELECT list_filter(columns, lambda c: regexp_matches(c[2], '.WITH TIME ZONE.+'))[1][1]
              AS zoned FROM __kanon_types)
    CROSS JOIN (SELECT (${digest}) AS digest)
),
__kanon_stated AS (
    SELECT list_filter(${metrics},
        lambda m: list_contains(${public}, split_part(m.metric, ' (', 1))
    ) AS metrics, rows_suppressed${measured}
    FROM __kanon_facts
)

-- name: entries
-- The entries of a manifest, as a list: a part of anonymize_manifest('t', k=5).
list_concat(
    [{'section': 'made', 'entry': 'duckdb', 'value': to_json(version())::VARCHAR,
      'description': 'the version of DuckDB that made it'}],
    from_json(${told}, '[{"section": "VARCHAR", "entry": "VARCHAR", "value": "VARCHAR", "description": "VARCHAR"}]'),
    ${hierarchies},
    list_transform(columns, lambda c: {
        'section': 'columns', 'entry': c[1], 'value': to_json(c[2])::VARCHAR,
        'description': 'the type of a released column'}),
    list_transform(names, lambda n: {
        'section': 'roles', 'entry': n,
        'value': to_json(coalesce(
            CASE WHEN list_contains(withheld, __kanon_caseless(n)) THEN 'withheld' END,
            list_filter(from_json(${roles}, '[["VARCHAR"]]'), lambda r: r[1] = __kanon_caseless(n))[1][2],
            ${rest}))::VARCHAR,
        'description': 'the role of a column of the relation'}),
    list_transform(metrics, lambda m: {
        'section': 'metrics', 'entry': m.metric,
        'value': CASE WHEN m.value IS NULL
                        OR (rows_suppressed > 0 AND list_contains(${of_whole}, split_part(m.metric, ' (', 1)))
                      THEN 'null'
                      WHEN NOT isfinite(m.value) THEN to_json(m.value::VARCHAR)::VARCHAR
                      WHEN m.value = floor(m.value) THEN m.value::HUGEINT::VARCHAR
                      WHEN list_contains(${exact}, split_part(m.metric, ' (', 1)) THEN to_json(m.value)::VARCHAR
                      ELSE to_json(format('{:.2e}', m.value)::DOUBLE)::VARCHAR END,
        'description': m.description}),
    [{'section': 'release', 'entry': 'number',
      'value': coalesce(to_json(list_filter(metrics, lambda m: m.metric = 'release')[1].value::BIGINT)::VARCHAR, 'null'),
      'description': ${number_text}},
     {'section': 'release', 'entry': 'rows_sha256', 'value': to_json(digest)::VARCHAR,
      'description': ${digest_text}},
     {'section': 'release', 'entry': 'sql_sha256', 'value': to_json(${sql_digest})::VARCHAR,
      'description': ${sql_text}}${chosen}]
)

-- name: of_stages
-- Where these entries are from: a part of anonymize_manifest('t', k=5).
FROM __kanon_stated CROSS JOIN __kanon_digest CROSS JOIN __kanon_types CROSS JOIN __kanon_names
    CROSS JOIN (SELECT ${withheld} AS withheld FROM __kanon_grouped), __kanon_check
WHERE __kanon_check.passed
