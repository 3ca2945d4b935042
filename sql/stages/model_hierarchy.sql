-- The earth mover's distance by the height of the lowest common ancestor, in whole rows: the mean over
-- the levels below the root of that at which any two nodes are 1 apart; a missing value is a node of
-- its own at each. A part of
-- anonymize('t', k=5, t=0.2, sensitive=['disease'], hierarchies={'disease': 'groups'}).
SELECT combination, size, above * ${under} <= ${over} * height * size * many AS passes,
           CASE WHEN height > 0 THEN above::DOUBLE / (height::DOUBLE * size * many) ELSE 0 END AS has
    FROM (SELECT combination, size, many, height, coalesce(sum(greatest(
                     0, rows_of::HUGEINT * many - size * rows_of_all)), 0) AS above
          FROM (SELECT ${part}combination, size::HUGEINT AS size FROM __kanon_spread_${i})
          ${join} (SELECT ${part}many::HUGEINT AS many FROM __kanon_whole_${i})${using}
          CROSS JOIN (SELECT coalesce(max(len(path)) - 1, 0) AS height FROM __kanon_paths_${i})
          LEFT JOIN (
              SELECT combination, rows_of, system.main.sum(rows_of) OVER (PARTITION BY ${part}depth, node) AS rows_of_all
              FROM (SELECT ${part}combination, depth, node, sum(size) AS rows_of
                    FROM (SELECT ${part}combination, size, depth, path[depth] AS node
                          FROM (SELECT ${part}combination, size, path FROM __kanon_histogram_${i}
                                LEFT JOIN __kanon_paths_${i} ON label = leaf)
                          CROSS JOIN (SELECT unnest(range(1, coalesce(max(len(path)), 1))) AS depth
                                      FROM __kanon_paths_${i}))
                    GROUP BY ${part}combination, depth, node)) USING (combination)
          GROUP BY combination, size, many, height)
