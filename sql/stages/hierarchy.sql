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
