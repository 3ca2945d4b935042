-- One row per metric: FROM anonymize_metrics('patients', k=5).
WITH __kanon_started AS MATERIALIZED (SELECT __kanon_clock(0) AS __kanon_moment),
${pipeline},
_generalized AS MATERIALIZED (SELECT __kanon_clock(count(*)) AS moment FROM _classes),
_verified AS MATERIALIZED (SELECT __kanon_clock(passed::BIGINT) AS moment FROM _check),
${measured},
_diversity AS (  -- what the rows of a class have in common, per combination of released values
    SELECT ${alike} FROM (
        SELECT count(*) AS __kanon_size${aggregates}, ${quasi_released}
        FROM _released GROUP BY ALL)
),
_facts AS (
    SELECT *, rows_in - rows_released AS rows_suppressed
    FROM (SELECT (SELECT count(*) FROM _source) AS rows_in,
                 sum(__kanon_size)::BIGINT AS rows_released,
                 count(*) AS classes,
                 min(__kanon_size) AS smallest,
                 max(__kanon_size) AS largest,
                 sum(__kanon_size::HUGEINT * __kanon_size)::DOUBLE AS squares,
                 (SELECT __kanon_moment FROM __kanon_started) AS started,
                 (SELECT moment FROM _generalized) AS generalized,
                 (SELECT moment FROM _verified) AS verified,
                 (SELECT grouped.facts FROM _grouped)::JSON AS grouped,
                 (SELECT measured.facts FROM _measured)::JSON AS measured
          FROM _sizes)
    CROSS JOIN _diversity
)
SELECT unnest(list_concat([
    ${rows}
], list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "ncp": "DOUBLE"}]'),
    lambda attribute: {
        'metric': 'ncp (' || attribute.name || ')', 'value': (attribute.ncp * (measured ->> 'rows')::DOUBLE
                  + rows_in - (measured ->> 'rows')::DOUBLE) / rows_in,
        'text': NULL::VARCHAR, 'unit': ${attribute_unit}, 'description': ${attribute_text}}
)), max_depth := 2)
FROM _facts, _check
WHERE _check.passed
