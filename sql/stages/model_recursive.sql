-- The most frequent value of each combination less often than c times the l-th most frequent and
-- all rarer ones: a part of
-- anonymize('t', k=5, l=3, diversity_kind='recursive', c=3, sensitive=['disease']).
SELECT combination, size, coalesce(top * ${under} < ${over} * tail, false) AS passes,
           CASE WHEN tail > 0 THEN top::DOUBLE / tail::DOUBLE ELSE 'inf'::DOUBLE END AS has
    FROM (SELECT combination, size FROM __kanon_spread_${i})
    LEFT JOIN (
        SELECT combination, max(size)::HUGEINT AS top,
               coalesce(sum(size) FILTER (WHERE rank >= ${l}), 0)::HUGEINT AS tail
        FROM (${ranked})
        GROUP BY combination) USING (combination)
