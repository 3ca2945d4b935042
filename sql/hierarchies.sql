-- name: hierarchy
-- The hierarchy of one column: a part of anonymize('t', k=5, hierarchies={'zip': 'prefix'}).
__kanon_tree_${i} AS MATERIALIZED (  -- the labels of each leaf, from itself up to the root
    SELECT CASE WHEN tree.error IS NULL THEN tree.paths
                ELSE __kanon_refuse(tree.error.kind, tree.error.sentence) END AS paths
    FROM (SELECT __kanon_tree(
        (SELECT list({'value': decode(value), 'count': size})
         FROM (SELECT encode(__kanon_key(${column})) AS value, count(*) AS size
               FROM ${values} GROUP BY ALL)),
        (SELECT any_value(typeof(${column})) FROM ${values}),
        ${names},
        ${rows},
        ${spec}) AS tree)
)

-- name: ancestors
-- What the classes release of a column with a hierarchy: a part of anonymize('t', k=5, ...).
__kanon_leaves_${i} AS MATERIALIZED (  -- those below a node side by side; encoded: without collation
    SELECT path, encode(path[1]) AS leaf, place
    FROM (SELECT unnest(paths) AS path, generate_subscripts(paths, 1) AS place FROM __kanon_tree_${i})
),
__kanon_spans_${i} AS (  -- the first and last leaf of each class; NULL is a leaf below the root
    SELECT __kanon_class, count(*) AS total, count(__kanon_leaves_${i}.place) AS known,
           min(__kanon_leaves_${i}.place) AS low, max(__kanon_leaves_${i}.place) AS high
    FROM __kanon_labelled LEFT JOIN __kanon_leaves_${i} 
        ON encode(__kanon_key(__kanon_labelled.${column})) = __kanon_leaves_${i}.leaf
    GROUP BY __kanon_class
),
__kanon_ancestors_${i} AS (
    SELECT __kanon_class, ${label} AS label
    FROM __kanon_spans_${i} AS span
    LEFT JOIN __kanon_leaves_${i} AS low ON low.place = span.low
    LEFT JOIN __kanon_leaves_${i} AS high ON high.place = span.high
)

-- name: ancestors_released
-- What each class releases where columns have a hierarchy: a part of
-- anonymize('t', k=5, hierarchies={'zip': 'prefix'}).
WITH ${ancestors}
SELECT _plain.* REPLACE (${labels})
    FROM (${plain}) AS _plain${joins}

-- name: ancestors_lowest
-- The label of the lowest common ancestor of a class: a part of
-- anonymize('t', k=5, hierarchies={'zip': 'prefix'}).
CASE
        WHEN span.known = 0 THEN NULL
        WHEN span.known < span.total THEN low.path[len(low.path)]
        ELSE low.path[list_filter(
            range(1, len(low.path) + 1),
            lambda level: encode(low.path[level]) = encode(high.path[level]))[1]] END

-- name: chosen_level
-- The level that full_domain chose for a column: a part of
-- anonymize('t', k=5, method='full_domain', hierarchies={'zip': 'prefix'}).
(SELECT (grouped.facts ->> ${fact})::DOUBLE::BIGINT FROM __kanon_grouped)

-- name: ancestors_same_level
-- The label of a class at the level that full_domain chose for all of them, an error where a class
-- has several there: a part of
-- anonymize('t', k=5, method='full_domain', hierarchies={'zip': 'prefix'}).
CASE
        WHEN list_contains((SELECT grouped.hidden FROM __kanon_grouped), ${name}) THEN NULL
        WHEN ${level} IS NULL OR encode(low.path[${level} + 1]) <> encode(high.path[${level} + 1])
            OR (span.known < span.total AND ${level} < (SELECT len(paths[1]) - 1 FROM __kanon_tree_${i})
                AND span.known > 0) THEN __kanon_refuse('ReleaseError', ${mixed})
        WHEN span.known > 0 THEN low.path[${level} + 1]
        WHEN ${level} = (SELECT len(paths[1]) - 1 FROM __kanon_tree_${i})
            THEN (SELECT paths[1][${level} + 1] FROM __kanon_tree_${i}) END

-- name: replaced
-- A stage in which the columns with a hierarchy hold something else: a part of
-- anonymize('t', k=5, hierarchies={'zip': 'prefix'}).
(SELECT * REPLACE (${columns}) FROM ${stage})

-- name: hierarchy_call
-- The level table of a column: FROM hierarchy('patients', 'zip', kind='prefix').
WITH ${unshadowed},
__kanon_values AS (SELECT ${column} FROM ${relation}),
${tree}
SELECT ${levels}
FROM (SELECT unnest(paths) AS path, generate_subscripts(paths, 1) AS place FROM __kanon_tree_1), __kanon_unshadowed
WHERE __kanon_unshadowed.passed
ORDER BY place ASC
