-- What each part of a release is and what it cost, as one row of facts for each: a part of
-- anonymize_metrics('t', k=5, within=['day'], by_part=true).
__kanon_started AS MATERIALIZED (SELECT __kanon_clock(0) AS __kanon_moment),
${pipeline},
__kanon_generalized AS MATERIALIZED (SELECT __kanon_clock(count(*)) AS moment FROM __kanon_classes),
__kanon_verified AS MATERIALIZED (SELECT __kanon_clock(passed::BIGINT) AS moment FROM __kanon_check),
${measured},
${of_parts}__kanon_sums AS (
    SELECT part, sum(size)::BIGINT AS rows_released, count(*) AS classes, min(size) AS smallest,
           max(size) AS largest, sum(size::HUGEINT * size)::DOUBLE AS squares
    FROM (SELECT __kanon_part AS part, count(*) AS size
          FROM __kanon_labelled JOIN __kanon_alike USING (__kanon_class)
          GROUP BY __kanon_part, __kanon_first)
    GROUP BY part
),
__kanon_diversity AS (  -- what the rows of a class have in common, per combination of released values
    SELECT __kanon_in AS part, ${alike} FROM (
        SELECT __kanon_labelled.__kanon_part AS __kanon_in, count(*) AS __kanon_size${aggregates}
        FROM __kanon_labelled JOIN __kanon_alike USING (__kanon_class)
        GROUP BY __kanon_labelled.__kanon_part, __kanon_alike.__kanon_first)
    GROUP BY __kanon_in
),
__kanon_passing AS (  -- rows per combination of the columns that pass unchanged
    SELECT part, columns_passing,
           CASE WHEN columns_passing > 0 THEN uniques ELSE 0 END AS passing_unique_rows
    FROM (SELECT __kanon_in AS part, count(*) FILTER (WHERE __kanon_size = 1) AS uniques
          FROM (SELECT count(*) AS __kanon_size, __kanon_of AS __kanon_in, ${seen_passing}
                FROM (SELECT __kanon_part AS __kanon_of${passing} FROM __kanon_labelled) GROUP BY ALL)
          GROUP BY __kanon_in)
    CROSS JOIN (SELECT ${columns_passing} AS columns_passing)
),
__kanon_reported AS MATERIALIZED (  -- what the grouping reported of each
    SELECT entry.part AS part, entry.facts AS grouped
    FROM (SELECT unnest(from_json(grouped.facts -> 'parts',
                                  '[{"part": "BIGINT", "facts": "JSON"}]')) AS entry
          FROM __kanon_grouped)
),
__kanon_facts AS (
    SELECT *, rows_in - rows_released AS rows_suppressed,
           (SELECT __kanon_moment FROM __kanon_started) AS started,
           (SELECT moment FROM __kanon_generalized) AS generalized,
           (SELECT moment FROM __kanon_verified) AS verified
    FROM (SELECT part, "rows" AS rows_in FROM __kanon_left WHERE part >= 0)
    LEFT JOIN __kanon_sums USING (part)
    LEFT JOIN __kanon_diversity USING (part)
    LEFT JOIN __kanon_passing USING (part)
    LEFT JOIN __kanon_measured USING (part)
    LEFT JOIN __kanon_reported USING (part)${verbatim}
),
__kanon_values AS (  -- the values of the columns of within
    SELECT __kanon_part, ${within} FROM __kanon_kept GROUP BY __kanon_part
)
