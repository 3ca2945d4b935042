-- The values of each class: a part of anonymize('t', k=5).
SELECT __kanon_class, ${values}
FROM (SELECT __kanon_class, ${columns} FROM ${stage})
GROUP BY __kanon_class
