-- The combination of released values that each class has, by its first class: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
__kanon_combinations AS MATERIALIZED (
    SELECT unnest(__kanon_members) AS __kanon_class, __kanon_combination
    FROM (SELECT list(__kanon_class) AS __kanon_members,
                 min(__kanon_class) AS __kanon_combination, ${seen}
          FROM __kanon_classes GROUP BY ALL)
),
