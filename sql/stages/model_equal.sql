-- The earth mover's distance at which any two values are 1 apart, in whole rows: a part of
-- anonymize('t', k=5, t=0.2, closeness='equal', sensitive=['disease']).
SELECT combination, size, above * ${under} <= ${over} * size * many AS passes,
           above::DOUBLE / (size::DOUBLE * many) AS has
    FROM (SELECT combination, size, whole AS many, sum(greatest(
                     0, rows_of::HUGEINT * whole - size::HUGEINT * rows_of_all)) AS above
          FROM (SELECT ${part}combination, size AS rows_of, many AS rows_of_all FROM __kanon_placed_${i})
          JOIN (SELECT combination, size::HUGEINT AS size FROM __kanon_spread_${i})
              USING (combination)
          ${join} (SELECT ${part}many AS whole FROM __kanon_whole_${i})${using}
          GROUP BY ALL)
