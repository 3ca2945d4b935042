-- The values of each class: a part of anonymize('t', k=5).
SELECT __kanon_class, ${values}
FROM ${stage}
GROUP BY __kanon_class
