-- How often the nodes just above the values are in each combination, where they are not the root: a
-- part of anonymize('t', k=5, l=3, sensitive=['salary'], hierarchies={'salary': 'bins'}).
SELECT ${part}combination, node AS label, NULL::BIGINT AS sorted, NULL::DOUBLE AS number,
           sum(size)::BIGINT AS size
    FROM (SELECT ${part}combination, size, CASE WHEN len(path) > 2 THEN path[2] ELSE label END AS node
          FROM __kanon_histogram_${i} LEFT JOIN __kanon_paths_${i} ON label = leaf)
    GROUP BY ${part}combination, node
