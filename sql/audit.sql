-- name: call
-- Any release held against its source: FROM anonymize_audit('patients', release='released').
WITH ${unshadowed},
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
        'text': NULL::VARCHAR, 'unit': ${attribute_unit}, 'in_words': NULL::VARCHAR, 'description': ${attribute_text}}
)), max_depth := 2)
FROM __kanon_facts, __kanon_unshadowed
WHERE __kanon_unshadowed.passed AND CASE
${refusals}        ELSE true END
