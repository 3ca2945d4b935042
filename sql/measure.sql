-- name: metric
-- One row of the metrics: a part of anonymize_metrics('t', k=5).
{'metric': ${name}, 'value': ${number}::DOUBLE, 'text': ${text}::VARCHAR, 'unit': ${unit},
 'in_words': ${words}::VARCHAR, 'description': ${description}}

-- name: weighted
-- The least sum of weights of a class, if all are weights: a part of
-- anonymize_metrics('t', k=5, sampling_weight='w').
CASE WHEN coalesce(bool_and(__kanon_weighed), true) THEN min(__kanon_people)
    ELSE __kanon_refuse('DataError', ${said}) END

-- name: metrics_by_part
-- One row per metric for each part: FROM anonymize_metrics('visits', k=5, within=['day'], by_part=true).
WITH ${facts}
SELECT ${within}, unnest(__kanon_metrics, max_depth := 2)
FROM (SELECT * FROM (SELECT part AS __kanon_part, ${metrics} AS __kanon_metrics
                     FROM __kanon_facts, __kanon_check
                     WHERE __kanon_check.passed)
      JOIN __kanon_values USING (__kanon_part)
      ORDER BY __kanon_part ASC)

-- name: metrics_call
-- One row per metric: FROM anonymize_metrics('patients', k=5).
WITH ${facts}
SELECT unnest(${metrics}, max_depth := 2)
FROM __kanon_facts, __kanon_check
WHERE __kanon_check.passed

-- name: brief
-- The metrics that everybody reads, at most ${rows} of them: a part of anonymize_metrics('t', k=5).
list_transform([${metrics}], lambda __kanon_all: list_transform(list_sort(list_filter(
    list_transform(__kanon_all, lambda __kanon_m, __kanon_i: {
        'at': CASE WHEN starts_with(__kanon_m.metric, 'ncp (') THEN 1001
                   WHEN __kanon_m.metric = 'notice' THEN 1000 + 2 * (len(list_filter(
                       __kanon_all[:__kanon_i], lambda __kanon_n: __kanon_n.metric = 'notice'
                   )) > ${notices})::INTEGER
                   ELSE list_position(${brief}, split_part(__kanon_m.metric, ' (', 1)) END,
        'gain': CASE WHEN starts_with(__kanon_m.metric, 'ncp (')
            THEN -coalesce(__kanon_m.value, 0.0) END,
        'number': __kanon_i, 'of': __kanon_m
    }), lambda __kanon_each: __kanon_each.at IS NOT NULL)
), lambda __kanon_each: __kanon_each.of)[:${rows}])[1]

-- name: facts_by_part
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
    SELECT part, unchanged_columns,
           CASE WHEN unchanged_columns > 0 THEN uniques ELSE 0 END AS unique_in_unchanged
    FROM (SELECT __kanon_in AS part, count(*) FILTER (WHERE __kanon_size = 1) AS uniques
          FROM (SELECT count(*) AS __kanon_size, __kanon_of AS __kanon_in, ${seen_passing}
                FROM (SELECT __kanon_part AS __kanon_of${passing} FROM __kanon_labelled) GROUP BY ALL)
          GROUP BY __kanon_in)
    CROSS JOIN (SELECT ${unchanged_columns} AS unchanged_columns)
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

-- name: facts
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
    SELECT unchanged_columns,
           CASE WHEN unchanged_columns > 0 THEN uniques ELSE 0 END AS unique_in_unchanged
    FROM (SELECT count(*) FILTER (WHERE __kanon_size = 1) AS uniques
          FROM (SELECT count(*) AS __kanon_size, ${seen_passing}
                FROM (SELECT NULL AS __kanon_none${passing} FROM __kanon_labelled) GROUP BY ALL))
    CROSS JOIN (SELECT ${unchanged_columns} AS unchanged_columns)
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
                 ${centers_equal_to_a_row} AS centers_equal_to_a_row
          FROM __kanon_sizes)
    CROSS JOIN __kanon_diversity
    CROSS JOIN __kanon_passing
)

-- name: centers_equal_to_a_row
-- How many published centers are a row of the relation, NULL equal to NULL: a part of
-- anonymize_metrics('t', k=5, method='r_gather').
(SELECT count(DISTINCT center) FROM __kanon_centers
    WHERE center IN (SELECT cells FROM __kanon_cells))

-- name: metrics
-- All metrics, as a list: a part of anonymize_metrics('t', k=5).
list_concat([
    ${rows}
], list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "ncp": "DOUBLE", "words": "VARCHAR"}]'),
    lambda attribute: {
        'metric': 'ncp (' || attribute.name || ')', 'value': attribute.ncp,
        'text': NULL::VARCHAR, 'unit': ${attribute_unit}, 'in_words': attribute.words,
        'description': ${attribute_text}}
), list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "ncp": "DOUBLE", "grouping": "DOUBLE"}]'),
    lambda attribute: {
        'metric': 'ncp_grouping (' || attribute.name || ')',
        'value': (attribute.grouping * (measured ->> 'rows')::DOUBLE
                  + rows_in - (measured ->> 'rows')::DOUBLE) / rows_in,
        'text': NULL::VARCHAR, 'unit': ${attribute_unit}, 'in_words': NULL::VARCHAR,
        'description': ${grouping_text}}
), list_transform(
    from_json(grouped -> 'notices', '["VARCHAR"]'),
    lambda notice: {
        'metric': 'notice', 'value': NULL::DOUBLE, 'text': notice, 'unit': '',
        'in_words': NULL::VARCHAR, 'description': ${notice_text}}
), list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "verbatim": "DOUBLE"}]'),
    lambda attribute: {
        'metric': ${verbatim_name} || ' (' || attribute.name || ')', 'value': ${verbatim},
        'text': NULL::VARCHAR, 'unit': ${verbatim_unit}, 'in_words': NULL::VARCHAR,
        'description': ${verbatim_text}}
)${of_column})

-- name: of_column
-- A metric of each quasi-identifier, after the others: a part of anonymize_metrics('t', k=5).
, list_transform(
    from_json(measured -> 'attributes',
              '[{"name": "VARCHAR", "${number}": "DOUBLE", "${words}": "VARCHAR"}]'),
    lambda attribute: {
        'metric': ${metric} || ' (' || attribute.name || ')', 'value': attribute.${number},
        'text': NULL::VARCHAR, 'unit': ${unit}, 'in_words': attribute.${words},
        'description': ${description}}
)

-- name: unchanged_columns
-- How many columns pass unchanged where others='release': a part of
-- anonymize_metrics('t', k=5, quasi_identifiers=['age'], others='release').
(SELECT len(names) FROM __kanon_names) - ${away} - (SELECT len(names) FROM __kanon_withheld)

-- name: identifiers
-- Which identifiers a release still tells: a part of
-- anonymize_audit('patients', release='released', identifiers=['name']).
__kanon_all AS MATERIALIZED (  -- the columns of the source: name, distinct values, rows with a value
    SELECT names, distincts, known
    FROM (SELECT [*COLUMNS(*)] AS names
          FROM (SELECT __kanon_name(COLUMNS(*)) FROM ${one_kept}))
    CROSS JOIN (SELECT [*COLUMNS(*)] AS distincts FROM (SELECT count(DISTINCT __kanon_seen(COLUMNS(*))) FROM __kanon_kept))
    CROSS JOIN (SELECT [*COLUMNS(*)] AS known FROM (SELECT count(COLUMNS(*)) FROM __kanon_kept))
),
__kanon_numbered AS MATERIALIZED (  -- the same, one row each, and where the release has the column
    SELECT place, names[place] AS name, distincts[place] AS different,
           (SELECT count(*) FROM __kanon_kept) - known[place] AS nulls,
           __kanon_caseless(names[place]) IN (${identifiers}) AS is_identifier,
           list_position(list_transform(released, lambda shown: __kanon_caseless(shown)),
                         __kanon_caseless(names[place])) AS shown_at
    FROM (SELECT *, unnest(range(1, len(names) + 1)) AS place FROM __kanon_all)
    CROSS JOIN (SELECT any_value(names) AS released
                FROM (SELECT [*COLUMNS(*)] AS names
                      FROM (SELECT __kanon_name(COLUMNS(*)) FROM ${one_released})))
),
__kanon_suspects AS MATERIALIZED (
    -- a column that tells the identifier of each of its rows has about as many values, or more
    SELECT identifier.place AS identifier, suspect.place AS suspect, suspect.shown_at
    FROM __kanon_numbered AS identifier JOIN __kanon_numbered AS suspect
    ON suspect.different >= identifier.different - suspect.nulls
    WHERE identifier.is_identifier AND identifier.different > 1 AND suspect.different > 1
    AND NOT suspect.is_identifier AND suspect.shown_at IS NOT NULL
),
__kanon_given AS MATERIALIZED (  -- their values, and whether each is that of one identifier
    SELECT identifier, suspect, shown_at, value, count(*) AS many, __kanon_alike(person) AS one
    FROM (SELECT identifier, suspect, shown_at, cells[suspect] AS value, cells[identifier] AS person
          FROM (SELECT [*COLUMNS(*)] AS cells FROM (SELECT __kanon_key(COLUMNS(*)) FROM __kanon_kept))
          CROSS JOIN __kanon_suspects)
    WHERE value IS NOT NULL
    GROUP BY ALL
),
__kanon_determining AS MATERIALIZED (
    SELECT identifier, suspect, shown_at FROM __kanon_given GROUP BY ALL HAVING bool_and(one)
),
__kanon_shown AS MATERIALIZED (  -- the values that the release has in their place
    SELECT shown_at, value, count(*) AS many
    FROM (SELECT shown_at, cells[shown_at] AS value
          FROM (SELECT [*COLUMNS(*)] AS cells FROM (SELECT __kanon_key(COLUMNS(*)) FROM __kanon_released))
          CROSS JOIN (SELECT DISTINCT shown_at FROM __kanon_determining))
    WHERE value IS NOT NULL
    GROUP BY ALL
),
__kanon_unchanged AS (  -- each value for no more rows than in the source
    SELECT identifier, suspect
    FROM __kanon_determining JOIN __kanon_shown USING (shown_at)
    LEFT JOIN __kanon_given USING (identifier, suspect, value)
    GROUP BY ALL
    HAVING bool_and(__kanon_shown.many <= coalesce(__kanon_given.many, 0))
),
__kanon_identifiers AS (
    SELECT (SELECT list(name ORDER BY place ASC NULLS LAST) FROM __kanon_numbered
            WHERE is_identifier AND shown_at IS NOT NULL) AS released,
           (SELECT list(suspect.name || ' (' || identifier.name || ')'
                        ORDER BY suspect.place ASC NULLS LAST, identifier.place ASC NULLS LAST)
            FROM __kanon_unchanged
            JOIN __kanon_numbered AS identifier ON identifier.place = __kanon_unchanged.identifier
            JOIN __kanon_numbered AS suspect ON suspect.place = __kanon_unchanged.suspect)
           AS determined
),
