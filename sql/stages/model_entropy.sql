-- The entropy of l equally frequent values in each combination: a part of
-- anonymize('t', k=5, l=3, diversity_kind='entropy', sensitive=['disease']).
SELECT combination, size,
           coalesce((even AND different >= ${l}) OR entropy >= system.main.ln(${l}::DOUBLE) + 1e-12, false)
               AS passes,
           coalesce(CASE WHEN even THEN different ELSE system.main.exp(entropy) END, 0)::DOUBLE AS has
    FROM (SELECT combination, size FROM __kanon_spread_${i})
    LEFT JOIN (
        SELECT combination, count(*) AS different, min(size) = max(size) AS even,
               system.main.ln(sum(size)::DOUBLE) - sum(size * system.main.ln(size::DOUBLE) ORDER BY size ASC) / sum(size)
                   AS entropy
        FROM (${ranked})
        GROUP BY combination) USING (combination)
