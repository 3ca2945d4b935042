-- The values of each class in one representation: a part of anonymize('t', k=5).
SELECT __kanon_class, __kanon_${representation}(${columns})
FROM ${stage}
GROUP BY __kanon_class
