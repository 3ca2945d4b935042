-- No bounded value with more than its share of a combination, in millionths: a part of
-- anonymize('t', k=5, alpha=0.5, sensitive=['disease']).
SELECT combination, size,
           coalesce(fits, true) AND missing * 1000000::HUGEINT <= size * ${least} AS passes,
           greatest(most, missing)::DOUBLE / size AS has
    FROM (SELECT combination, size, missing, bool_and(
                     (rows_of + missing) * 1000000::HUGEINT <= size * coalesce(${bound}, 1000000))
                     AS fits,
                 coalesce(max(rows_of + missing) FILTER (WHERE ${bound} IS NOT NULL), 0) AS most
          FROM (SELECT combination, size, ${missing} AS missing FROM __kanon_spread_${i})
          LEFT JOIN (SELECT combination, label, size AS rows_of
                     FROM __kanon_histogram_${i}${known}) USING (combination)
          GROUP BY combination, size, missing)
