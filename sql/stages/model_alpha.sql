-- No bounded value with more than its share of a combination, in millionths: a part of
-- anonymize('t', k=5, alpha=0.5, sensitive=['disease']).
SELECT combination, size,
           coalesce(fits, true) AND ${missing} * 1000000::HUGEINT <= size * least AS passes,
           greatest(most, CASE WHEN bounded THEN ${missing} ELSE 0 END)::DOUBLE / size AS has
    FROM (SELECT combination, any_value(whole) AS size, any_value(missing) AS missing,
                 bool_and((size + ${missing}) * 1000000::HUGEINT
                          <= whole * coalesce(${bound}, 1000000)) AS fits,
                 coalesce(max(size + ${missing}) FILTER (WHERE ${bound} IS NOT NULL), 0) AS most
          FROM (SELECT combination, size AS whole, missing FROM __kanon_spread_${i})
          LEFT JOIN (SELECT combination, label, size FROM __kanon_histogram_${i}${known})
              USING (combination)
          GROUP BY combination)
    CROSS JOIN (SELECT coalesce(min(${bound}), 1000000) AS least, count(${bound}) > 0 AS bounded
                FROM __kanon_domain_${i}${known})
