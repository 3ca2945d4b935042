-- name: k_anonymity_sensitive
-- The audit of any table, and of its sensitive columns, one row each:
-- FROM k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease'], l=3).
WITH ${sound},
${stages}__kanon_sizes AS (
    SELECT ${part}len(cells) AS __kanon_size FROM __kanon_sets
),
__kanon_found AS (  -- what the worst class has
    ${found}
)
SELECT min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(*) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       ${k}::BIGINT AS k_asked,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < ${k}) END AS classes_below_k,
       CASE WHEN ${k} IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean,
       ${parts}any_value(sensitive) AS sensitive,
       ${measured},
       any_value(classes_violating) AS classes_violating,
       any_value(rows_violating) AS rows_violating
FROM __kanon_found CROSS JOIN __kanon_sound LEFT JOIN __kanon_sizes ON true
WHERE __kanon_sound.sound AND CASE
${refusals}        ELSE true END
GROUP BY place
ORDER BY place ASC

-- name: k_anonymity_persons_sensitive
-- The audit of any table in which persons have several rows, and of its sensitive columns, one row
-- each:
-- FROM k_anonymity('visits', quasi_identifiers=['age', 'zip'], sensitive=['disease'], l=3,
--                  entity='patient_id').
WITH ${sound},
${stages}${crowds},
__kanon_found AS (  -- what the worst class has
    ${found}
)
SELECT min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(*) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       ${k}::BIGINT AS k_asked,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < ${k}) END AS classes_below_k,
       CASE WHEN ${k} IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean,
       any_value(sensitive) AS sensitive,
       ${measured},
       any_value(classes_violating) AS classes_violating,
       any_value(persons_violating) AS persons_violating,
       ${persons}
FROM __kanon_persons CROSS JOIN __kanon_found CROSS JOIN __kanon_sound LEFT JOIN __kanon_sizes ON true
WHERE __kanon_sound.sound AND CASE
${refusals}        WHEN nobody > 0
            THEN __kanon_refuse('DataError', ${nobody})
        ELSE true END
GROUP BY place
ORDER BY place ASC

-- name: call
-- Any release held against its source: FROM anonymize_audit('patients', release='released').
WITH ${sound},
__kanon_kept AS (SELECT __kanon.* FROM ${relation} AS __kanon${where}),
__kanon_released AS MATERIALIZED (SELECT __kanon.* FROM ${release} AS __kanon${released_where}),
${trees}__kanon_columns AS (
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(${quasi})
          FROM ${one_kept})
),
__kanon_released_columns AS (
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(${quasi_released})
          FROM ${one_released})
),
__kanon_cells AS (  -- the quasi-identifiers, and last what passes unchanged
    SELECT [*COLUMNS(*)] AS cells
    FROM (SELECT __kanon_key(${quasi}), ${passing} AS __kanon_passing FROM __kanon_kept)
),
__kanon_released_cells AS (
    SELECT [*COLUMNS(*)] AS cells
    FROM (SELECT __kanon_key(${quasi_released}), ${passing} AS __kanon_passing FROM __kanon_released)
),
__kanon_begun AS MATERIALIZED (  -- begins to read what is published: all cells in, a ticket out
    SELECT __kanon_audit(
        (SELECT list(cells) FROM __kanon_cells),
        (SELECT columns FROM __kanon_columns),
        (SELECT list(cells) FROM __kanon_released_cells),
        (SELECT columns FROM __kanon_released_columns),
        ${options},
        ${hierarchies}) AS ticket
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
    SELECT count(*) AS __kanon_size, ${seen_released} FROM __kanon_released GROUP BY ALL
),
__kanon_diversity AS (
    SELECT ${alike} FROM (
        SELECT count(*) AS __kanon_size${aggregates}, ${seen_released}
        FROM __kanon_released GROUP BY ALL)
),
${identifiers}__kanon_facts AS (
    SELECT *, rows_in - rows_released AS rows_suppressed
    FROM (SELECT (SELECT count(*) FROM __kanon_kept) AS rows_in,
                 coalesce(sum(__kanon_size), 0)::BIGINT AS rows_released,
                 count(*) AS classes,
                 min(__kanon_size) AS smallest,
                 max(__kanon_size) AS largest,
                 sum(__kanon_size::HUGEINT * __kanon_size)::DOUBLE AS squares,
                 coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0) AS below,
                 (SELECT facts FROM __kanon_measured) AS measured
          FROM __kanon_sizes)
    CROSS JOIN __kanon_diversity
)
SELECT unnest(list_concat([
    ${rows}
], list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "ncp": "DOUBLE"}]'),
    lambda attribute: {
        'metric': 'ncp (' || attribute.name || ')', 'value': attribute.ncp,
        'text': NULL::VARCHAR, 'unit': ${attribute_unit}, 'description': ${attribute_text}}
)), max_depth := 2)
FROM __kanon_facts, __kanon_sound
WHERE __kanon_sound.sound AND CASE
${refusals}        ELSE true END

-- name: k_anonymity_persons
-- The audit of any table in which persons have several rows:
-- FROM k_anonymity('visits', quasi_identifiers=['age', 'zip'], entity='patient_id', k=5).
WITH ${sound},
__kanon_sets AS (  -- whose the rows of each combination are; encoded: without collation
    SELECT row_number() OVER () AS combination, whose
    FROM (SELECT list(decode(encode(__kanon_key(${entity})))) AS whose, ${seen}
          FROM ${relation} AS __kanon${where} GROUP BY ALL)
),
${crowds}
SELECT min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(*) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       ${k}::BIGINT AS k_asked,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < ${k}) END AS classes_below_k,
       CASE WHEN ${k} IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean,
       ${persons}
FROM __kanon_persons CROSS JOIN __kanon_sound LEFT JOIN __kanon_sizes ON true
WHERE __kanon_sound.sound AND CASE
${refusals}        WHEN nobody > 0
            THEN __kanon_refuse('DataError', ${nobody})
        ELSE true END

-- name: k_anonymity
-- The audit of any table: FROM k_anonymity('release', quasi_identifiers=['age', 'zip'], k=5).
WITH ${sound},
__kanon_sizes AS (
    SELECT count(*) AS __kanon_size, ${seen} FROM ${relation} AS __kanon${where} GROUP BY ALL
)
SELECT min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(*) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       ${k}::BIGINT AS k_asked,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < ${k}) END AS classes_below_k,
       CASE WHEN ${k} IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean
FROM __kanon_sizes, __kanon_sound
WHERE __kanon_sound.sound AND CASE
${refusals}        ELSE true END

-- name: k_anonymity_by_part
-- The audit of any table, one row for each part:
-- FROM k_anonymity('out/**/*.parquet', within=['day'], by_part=true, k=5).
WITH ${sound},
__kanon_sizes AS MATERIALIZED (
    SELECT count(*) AS __kanon_size, ${values}, row(${keys}) AS __kanon_part, ${seen}
    FROM ${relation} AS __kanon${where} GROUP BY ALL
)
SELECT ${within},
       min(__kanon_size) AS k,
       sum(__kanon_size)::BIGINT AS "rows",
       count(*) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       ${k}::BIGINT AS k_asked,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < ${k}) END AS classes_below_k,
       CASE WHEN ${k} IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean
FROM __kanon_sizes, __kanon_sound
WHERE __kanon_sound.sound AND CASE
${refusals}        ELSE true END
GROUP BY __kanon_part
ORDER BY ${order}

-- name: k_anonymity_parts
-- The audit of any table in parts, as a whole:
-- FROM k_anonymity('out/**/*.parquet', within=['day'], k=5).
WITH ${sound},
__kanon_sizes AS MATERIALIZED (  -- a combination is one of all columns, those of within among them
    SELECT count(*) AS __kanon_size, row(${keys}) AS __kanon_part, ${seen}
    FROM ${relation} AS __kanon${where} GROUP BY ALL
),
__kanon_parts AS (
    SELECT sum(__kanon_size) AS "rows", min(__kanon_size) AS smallest
    FROM __kanon_sizes GROUP BY __kanon_part
)
SELECT min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(*) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       ${k}::BIGINT AS k_asked,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < ${k}) END AS classes_below_k,
       CASE WHEN ${k} IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean,
       (SELECT count(*) FROM __kanon_parts) AS parts,
       CASE WHEN ${k} IS NOT NULL
           THEN (SELECT count(*) FROM __kanon_parts WHERE smallest < ${k}) END AS parts_below_k,
       (SELECT min("rows")::BIGINT FROM __kanon_parts) AS part_rows_min
FROM __kanon_sizes, __kanon_sound
WHERE __kanon_sound.sound AND CASE
${refusals}        ELSE true END
