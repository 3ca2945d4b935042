-- What a release is and what it cost, as one row of facts: a part of anonymize_metrics('t', k=5).
__kanon_started AS MATERIALIZED (SELECT __kanon_clock(0) AS __kanon_moment),
${pipeline},
__kanon_generalized AS MATERIALIZED (SELECT __kanon_clock(count(*)) AS moment FROM __kanon_classes),
__kanon_verified AS MATERIALIZED (SELECT __kanon_clock(passed::BIGINT) AS moment FROM __kanon_check),
${measured},
__kanon_diversity AS (  -- what the rows of a class have in common, per combination of released values
    SELECT ${alike} FROM (
        SELECT count(*) AS __kanon_size${aggregates}
        FROM __kanon_labelled JOIN __kanon_alike USING (__kanon_class)
        GROUP BY __kanon_alike.__kanon_first)
),
__kanon_passing AS (  -- rows per combination of the columns that pass unchanged
    SELECT columns_passing,
           CASE WHEN columns_passing > 0 THEN uniques ELSE 0 END AS passing_unique_rows
    FROM (SELECT count(*) FILTER (WHERE __kanon_size = 1) AS uniques
          FROM (SELECT count(*) AS __kanon_size, ${seen_passing}
                FROM (SELECT NULL AS __kanon_none${passing} FROM __kanon_labelled) GROUP BY ALL))
    CROSS JOIN (SELECT ${columns_passing} AS columns_passing)
),
__kanon_facts AS (
    SELECT *, rows_in - rows_released AS rows_suppressed
    FROM (SELECT (SELECT count(*) FROM __kanon_source) AS rows_in,
                 sum(__kanon_size)::BIGINT AS rows_released,
                 count(*) AS classes,
                 min(__kanon_size) AS smallest,
                 max(__kanon_size) AS largest,
                 sum(__kanon_size::HUGEINT * __kanon_size)::DOUBLE AS squares,
                 (SELECT __kanon_moment FROM __kanon_started) AS started,
                 (SELECT moment FROM __kanon_generalized) AS generalized,
                 (SELECT moment FROM __kanon_verified) AS verified,
                 (SELECT grouped.facts FROM __kanon_grouped) AS grouped,
                 (SELECT measured.facts FROM __kanon_measured) AS measured,
                 ${centers_verbatim} AS centers_verbatim
          FROM __kanon_sizes)
    CROSS JOIN __kanon_diversity
    CROSS JOIN __kanon_passing
)
