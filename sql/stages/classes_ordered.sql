-- The values of each class, columns in their order in the relation: a part of
-- anonymize('t', k=5, representation={'age': 'interval', '*': 'centroid'}).
(SELECT NULL::BIGINT AS __kanon_class, __kanon_blank(${columns}) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (${classes})
