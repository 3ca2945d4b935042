-- name: zero
-- 0.0 in the type of x, as in macros/columns.sql, by text: a browser has JSON only after a download,
-- and before DuckDB 2.0 a text can't be cast to a UNION.
CREATE OR REPLACE TEMP MACRO __kanon_zero(x) AS cast_to_type('[0.0]', [x])[1]

-- name: listed
-- Refuses a text where a list of columns belongs: DuckDB would read the text as a pattern.
CASE WHEN NOT ends_with(typeof(quasi_identifiers), '[]')
    THEN error('quasi_identifiers is not a list of columns. Write it as [''age'', ''zip''].')
    ELSE true END

-- name: k_anonymity
-- The sizes of the classes, and the risk that follows from them:
-- FROM k_anonymity('release.parquet', ['age', 'zip'], k := 5).
CREATE OR REPLACE TEMP MACRO k_anonymity(relation, quasi_identifiers, k := NULL) AS TABLE
WITH ${sizes}
SELECT ${figures}
FROM __kanon_sizes
WHERE ${listed};

-- name: privacy_models
-- What the worst class has of a sensitive column, on the scale of each privacy model:
-- FROM privacy_models('release.parquet', ['age', 'zip'], 'disease').
CREATE OR REPLACE TEMP MACRO privacy_models(relation, quasi_identifiers, sensitive) AS TABLE
WITH ${stages}
SELECT sensitive::VARCHAR AS sensitive,
       ${measured}
WHERE ${listed};

-- name: with_sensitive
-- Rows with the sensitive column under a fixed name: a part of privacy_models('t', ['age'], 'disease').
(SELECT COLUMNS(quasi_identifiers), COLUMNS([sensitive]) AS __kanon_sensitive FROM query_table(relation))

-- name: k_map
-- The risk against a population: FROM k_map('release.parquet', 'census', ['age', 'zip']).
CREATE OR REPLACE TEMP MACRO k_map(relation, population, quasi_identifiers, k := NULL) AS TABLE
WITH ${sizes},
__kanon_kept AS (
    ${keys}
),
${people}
__kanon_pairs AS MATERIALIZED (  -- classes by their rows here, and by their people
    SELECT here, people, count(*) AS classes, sum(short)::BIGINT AS short FROM __kanon_met GROUP BY ALL
),
__kanon_facts AS (
    ${facts}
)
SELECT ${metrics}
FROM __kanon_facts
WHERE ${listed};

-- name: keys
-- The quasi-identifiers as text with their names, since two relations may have them in two orders: a
-- part of k_map('release.parquet', 'census', ['age', 'zip']).
SELECT {'name': __kanon_caseless(alias(COLUMNS(quasi_identifiers))),
            'key': __kanon_key(COLUMNS(quasi_identifiers))} FROM query_table(${relation})

-- name: verify_release
-- Computes again what the manifest of a released file claims, one row for each entry:
-- FROM verify_release('release.parquet').
-- A verdict is 'wrong', 'proven', or 'not checked': that needs Python, or the source.
CREATE OR REPLACE TEMP MACRO verify_release(parquet) AS TABLE
WITH __kanon_kept AS (FROM read_parquet(parquet, hive_partitioning := false)),
__kanon_footer AS MATERIALIZED (
    SELECT list(decode(value)) FILTER (WHERE decode(key) = ${key}) AS manifests,
           coalesce(list(decode(key)) FILTER (WHERE decode(key) NOT IN (${key}, 'geo')), []) AS others
    FROM parquet_kv_metadata(parquet)
),
__kanon_manifest AS MATERIALIZED (
    SELECT others,
           CASE WHEN ${sections} THEN told
                ELSE error('The file has no manifest of a release: its footer must have the key ' || ${key} || ' once.')
                END AS manifest
    FROM (SELECT others, CASE WHEN len(manifests) = 1 AND json_valid(manifests[1]) THEN manifests[1]::JSON END AS told
          FROM __kanon_footer)
),
__kanon_entries AS MATERIALIZED (
    SELECT others, (manifest -> 'made')::MAP(VARCHAR, JSON) AS made,
           (manifest -> 'options')::MAP(VARCHAR, JSON) AS options,
           (manifest -> 'columns')::MAP(VARCHAR, VARCHAR) AS columns,
           (manifest -> 'roles')::MAP(VARCHAR, VARCHAR) AS roles,
           (manifest -> 'metrics')::MAP(VARCHAR, JSON) AS metrics,
           (manifest -> 'release')::MAP(VARCHAR, JSON) AS release,
           coalesce((manifest -> 'hierarchies')::MAP(VARCHAR, JSON), MAP {}) AS hierarchies
    FROM __kanon_manifest
),
__kanon_asked AS MATERIALIZED (  -- which columns the released rows are told apart by, and what was asked
    SELECT list_transform(list_filter(map_entries(roles), lambda r: r.value IN ('quasi_identifier', 'within')),
                          lambda r: r.key) AS __kanon_quasi,
           list_transform(list_filter(map_entries(roles), lambda r: r.value IN ('sensitive', 'other', 'within')),
                          lambda r: r.key) AS __kanon_passing,
           list_transform(list_filter(map_entries(roles), lambda r: r.value = 'sensitive'),
                          lambda r: r.key) AS __kanon_secret,
           len(list_filter(map_entries(roles), lambda r:
               r.value IN ('sensitive', 'other', 'within') AND list_contains(map_keys(columns), r.key)))
               AS unchanged_columns,
           TRY_CAST(options['k'] AS BIGINT) AS asked_k,
           TRY_CAST(metrics['rows'] AS BIGINT) AS rows_in,
           TRY_CAST(metrics['rows_suppressed'] AS BIGINT) AS rows_suppressed,
           coalesce(TRY_CAST(made['format'] AS BIGINT) = ${format}, false) AS readable
    FROM __kanon_entries
),
__kanon_masked AS (
    SELECT CASE WHEN list_contains(__kanon_quasi, alias(${columns})) THEN __kanon_seen(${columns}) END
               AS '__kanon_seen_\0',
           CASE WHEN list_contains(__kanon_quasi, alias(${columns})) THEN __kanon_printed(${columns}) END
               AS '__kanon_printed_\0',
           CASE WHEN list_contains(__kanon_secret, alias(${columns})) THEN {
               'part': alias(${columns}), 'label': decode(encode(__kanon_key(${columns}))),
               'number': (__kanon_cell(${columns})).number} END AS '__kanon_sensitive_\0'
    FROM __kanon_kept CROSS JOIN __kanon_asked
),
__kanon_classes AS MATERIALIZED (
    SELECT row_number() OVER () AS class, size, cells
    FROM (SELECT count(*) AS size, list([*COLUMNS('^__kanon_sensitive_')]) AS cells,
                 COLUMNS('^__kanon_(seen|printed)_')
          FROM __kanon_masked GROUP BY ALL)
),
__kanon_facts AS MATERIALIZED (
    SELECT *
    FROM (SELECT coalesce(sum(size), 0)::BIGINT AS rows_released, count(*) AS classes,
                 min(size) AS smallest, max(size) AS largest,
                 sum(size::HUGEINT * size)::DOUBLE AS squares
          FROM __kanon_classes)
    CROSS JOIN (
        SELECT count(*) FILTER (WHERE size = 1) AS alone
        FROM (SELECT count(*) AS size,
                     CASE WHEN list_contains(__kanon_passing, alias(${columns})) THEN __kanon_seen(${columns}) END,
                     CASE WHEN list_contains(__kanon_passing, alias(${columns})) THEN __kanon_printed(${columns}) END
              FROM __kanon_kept CROSS JOIN __kanon_asked GROUP BY ALL))
    CROSS JOIN __kanon_asked
    CROSS JOIN (SELECT (${digest}) AS digest)
),
__kanon_told AS (  -- the facts under the names of the manifest's metrics
    SELECT *, CASE WHEN unchanged_columns > 0 THEN alone ELSE 0 END AS unique_in_unchanged
    FROM __kanon_facts
),
${stages},
__kanon_shown AS MATERIALIZED (  -- each metric that the file shows, and what was asked of it
    SELECT unnest([
        ${metrics}], recursive := true), NULL::DOUBLE AS asked, NULL::BOOLEAN AS more_is_better
    FROM __kanon_told
    UNION ALL
    ${models}
),
__kanon_file AS MATERIALIZED (  -- name, type and number of values of each column of the file
    SELECT list({'name': c[1], 'type': c[2], 'known': known, 'place': place}) AS columns
    FROM (SELECT unnest(columns) AS c, unnest(counts) AS known, generate_subscripts(columns, 1) AS place
          FROM (SELECT [*COLUMNS(*)] AS columns FROM (SELECT [alias(COLUMNS(*)), typeof(COLUMNS(*))] FROM ${one_row}))
          CROSS JOIN (SELECT [*COLUMNS(*)] AS counts FROM (SELECT count(COLUMNS(*)) FROM __kanon_kept)))
),
__kanon_names AS (
    SELECT __kanon_entries.*, __kanon_file.columns AS file,
           list_transform(__kanon_file.columns, lambda c: c.name) AS names
    FROM __kanon_entries CROSS JOIN __kanon_file
),
__kanon_findings AS (
    SELECT 'footer.' || key AS entry, false AS fits, NULL::VARCHAR AS stated, 'a key that no release writes' AS computed
    FROM (SELECT unnest(others) AS key FROM __kanon_entries)
    UNION ALL
    SELECT 'columns.' || c.name, coalesce(columns[c.name] = c.type AND map_keys(columns)[c.place] = c.name, false),
           columns[c.name], c.type
    FROM (SELECT unnest(file) AS c, columns FROM __kanon_names)
    UNION ALL
    SELECT 'columns.' || c.key, false, c.value, NULL
    FROM (SELECT unnest(map_entries(columns)) AS c, names FROM __kanon_names) WHERE NOT list_contains(names, c.key)
    UNION ALL
    SELECT 'roles.' || r.key,
           CASE WHEN r.value IN ('identifier', 'entity') THEN NOT list_contains(names, r.key)
                WHEN r.value = 'withheld' THEN list_contains(names, r.key)
                    AND len(list_filter(file, lambda c: c.name = r.key AND c.known > 0)) = 0
                ELSE list_contains(names, r.key) END,
           r.value, CASE WHEN list_contains(names, r.key) THEN 'a column of the file' ELSE 'no column of the file' END
    FROM (SELECT unnest(map_entries(roles)) AS r, names, file FROM __kanon_names)
    UNION ALL
    SELECT 'release.rows_sha256', coalesce(release['rows_sha256'] ->> '$$' = digest, false),
           release['rows_sha256'] ->> '$$', digest
    FROM __kanon_entries CROSS JOIN __kanon_facts
    UNION ALL
    SELECT 'metrics.rows', false, rows_in::VARCHAR, (rows_released + rows_suppressed)::VARCHAR
    FROM __kanon_facts WHERE NOT coalesce(rows_in = rows_released + rows_suppressed, false)
    UNION ALL
    SELECT 'options.k', coalesce(smallest >= asked_k, true), asked_k::VARCHAR, smallest::VARCHAR
    FROM __kanon_facts WHERE asked_k IS NOT NULL AND (SELECT coalesce(options['entity'], 'null') = 'null' FROM __kanon_entries)
    UNION ALL
    ${all_classes}SELECT 'metrics.' || metric,
           CASE WHEN stated IS NULL OR value IS NULL THEN stated IS NULL AND value IS NULL
                WHEN isfinite(stated) AND isfinite(value)
                    THEN abs(stated - value) <= greatest(1e-9 * greatest(abs(stated), abs(value)), 1e-12)
                ELSE stated = value END,
           stated::VARCHAR, value::VARCHAR
    FROM (SELECT metric, value, TRY_CAST(metrics[metric] ->> '$$' AS DOUBLE) AS stated
          FROM __kanon_shown CROSS JOIN __kanon_entries)
    UNION ALL
    SELECT 'options.' || metric,
           CASE WHEN more_is_better THEN value >= asked * (1 - 1e-9) ELSE value <= asked * (1 + 1e-9) + 1e-12 END,
           asked::VARCHAR, value::VARCHAR
    FROM __kanon_shown WHERE asked IS NOT NULL
)
SELECT entry, verdict, stated, computed
FROM (SELECT entry, CASE WHEN fits THEN 'proven' ELSE 'wrong' END AS verdict, stated, computed FROM __kanon_findings
      UNION ALL
      SELECT entry, 'not checked', stated, NULL
      FROM (SELECT unnest(list_concat(
                list_transform(map_entries(made), lambda e: {'entry': 'made.' || e.key, 'stated': e.value::VARCHAR}),
                list_transform(map_entries(options), lambda e: {'entry': 'options.' || e.key, 'stated': e.value::VARCHAR}),
                list_transform(map_entries(hierarchies), lambda e: {'entry': 'hierarchies.' || e.key, 'stated': e.value::VARCHAR}),
                list_transform(map_entries(metrics), lambda e: {'entry': 'metrics.' || e.key, 'stated': e.value::VARCHAR}),
                list_transform(map_entries(release), lambda e: {'entry': 'release.' || e.key, 'stated': e.value::VARCHAR})
            ), recursive := true) FROM __kanon_entries)
      WHERE entry NOT IN (SELECT entry FROM __kanon_findings))
WHERE CASE WHEN (SELECT readable FROM __kanon_asked) THEN true
           ELSE error('The manifest has another format than ${format}. Verify it by the version of kanon_sql that made it.') END
ORDER BY verdict = 'wrong' DESC, verdict = 'proven' DESC, entry ASC;

-- name: all_classes
-- What all classes together have, against what was asked of them: a part of
-- verify_release('release.parquet').
SELECT 'options.' || ${option}, coalesce(reached <= asked * (1 + 1e-9), true), asked::VARCHAR, reached::VARCHAR
    FROM (SELECT (${reached})::DOUBLE AS reached FROM __kanon_told)
    CROSS JOIN (SELECT TRY_CAST(options[${option}] AS DOUBLE) AS asked,
                       coalesce(options['entity'], 'null') = 'null' AS by_rows FROM __kanon_entries)
    WHERE asked IS NOT NULL AND by_rows

-- name: histogram_of_columns
-- How often each sensitive value is in each class, of each column: a part of verify_release('r.parquet').
SELECT cell.part AS part, class || ' ' || cell.part AS combination, cell.label AS label,
           cell.number AS sorted, cell.number AS number, count(*) AS size
    FROM (SELECT class, unnest(flatten(cells)) AS cell FROM __kanon_classes)
    WHERE cell.part IS NOT NULL GROUP BY class, cell.part, cell.label, cell.number

-- name: shown_model
-- What the worst class has of each sensitive column on one scale, where the manifest asks for that
-- and the file alone shows it: a part of verify_release('release.parquet').
SELECT ${metric} || ' (' || part || ')' AS metric, ${worst}::DOUBLE AS value,
           any_value(TRY_CAST(${limit} AS DOUBLE)) AS asked, ${more_is_better} AS more_is_better
    FROM ${stage} JOIN (SELECT part, combination FROM __kanon_spread_0) USING (combination)
    JOIN (SELECT part, ordered FROM __kanon_whole_0) USING (part) CROSS JOIN __kanon_entries
    WHERE ${shown}
    GROUP BY part

-- name: by_rows
-- Whether a class is measured by its rows, a NULL is as bad as it can be, and no hierarchy counts: a
-- part of verify_release('release.parquet').
coalesce(options['sensitive_nulls'] ->> '$$', '') = 'worst'
          AND (coalesce(options['entity'] ->> '$$', '') = ''
               OR coalesce(options['entity_rows'] ->> '$$', '') = 'apart')
          AND NOT list_contains(map_keys(hierarchies), part)

-- name: whole
-- Whether a class is held against all rows, not against those of its part: a part of
-- verify_release('release.parquet').
coalesce(options['within'] ->> '$$', '') IN ('', '[]')

-- name: limit
-- What a manifest says of an option for one column: a part of verify_release('release.parquet').
coalesce(CASE WHEN json_type(options[${option}]) = 'OBJECT' THEN TRY_CAST(options[${option}] AS MAP(VARCHAR, JSON))[part]
    ELSE options[${option}] END ->> '$$', '')
