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
