-- The nodes above each value of a sensitive column with a hierarchy: a part of
-- anonymize('t', k=5, t=0.2, sensitive=['disease'], hierarchies={'disease': 'groups'}).
__kanon_paths_${i} AS MATERIALIZED (
    SELECT path[1] AS leaf, path FROM (SELECT unnest(paths) AS path FROM __kanon_tree_${tree})
),
