-- The counts of the values of each combination, most frequent first: a part of
-- anonymize('t', k=5, l=3, diversity_kind='entropy', sensitive=['disease']).
SELECT combination, rank, size + CASE WHEN rank = 1 THEN ${missing} ELSE 0 END AS size
          FROM (SELECT combination, size,
                       row_number() OVER (PARTITION BY combination ORDER BY size DESC) AS rank
                FROM __kanon_histogram_${i}${known})
          JOIN (SELECT combination, missing FROM __kanon_spread_${i}) USING (combination)
