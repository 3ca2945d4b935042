-- What the worst combination of each part has, of one model: a part of
-- anonymize_metrics('t', k=5, l=3, sensitive=['disease'], within=['day'], by_part=true).
SELECT part, ${j} AS model, ${worst} AS has
    FROM ${stage} JOIN (SELECT part, combination FROM __kanon_spread_${i}) USING (combination)
    GROUP BY part
