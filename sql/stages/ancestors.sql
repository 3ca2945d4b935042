-- What the classes release of a column with a hierarchy: a part of anonymize('t', k=5, ...).
_leaves_${i} AS MATERIALIZED (  -- those below a node side by side; encoded: without collation
    SELECT path, encode(path[1]) AS leaf, place
    FROM (SELECT unnest(paths) AS path, generate_subscripts(paths, 1) AS place FROM _tree_${i})
),
_spans_${i} AS (  -- the first and last leaf of each class; NULL is a leaf below the root
    SELECT __kanon_class, count(*) AS total, count(_leaves_${i}.place) AS known,
           min(_leaves_${i}.place) AS low, max(_leaves_${i}.place) AS high
    FROM _labelled LEFT JOIN _leaves_${i} 
        ON encode(__kanon_key(_labelled.${column})) = _leaves_${i}.leaf
    GROUP BY __kanon_class
),
_ancestors_${i} AS (
    SELECT __kanon_class, ${label} AS label
    FROM _spans_${i} AS span
    LEFT JOIN _leaves_${i} AS low ON low.place = span.low
    LEFT JOIN _leaves_${i} AS high ON high.place = span.high
)
