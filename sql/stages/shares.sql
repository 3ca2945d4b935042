-- The share of each value in each combination, and among all rows: a part of
-- anonymize('t', k=5, delta=1.5, sensitive=['disease']).
SELECT ${part}combination, size, rows_of, rows_of_all, whole,
                       rows_of::DOUBLE / size AS own, rows_of_all::DOUBLE / whole AS overall
                FROM (SELECT ${part}combination, size AS rows_of, many AS rows_of_all
                      FROM __kanon_placed_${i})
                JOIN __kanon_spread_${i} USING (${part}combination)
                ${join} (SELECT ${part}many AS whole FROM __kanon_whole_${i})${using}
