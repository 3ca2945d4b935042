-- The centroids where columns have a hierarchy, and so no mean: there the most frequent value. A
-- part of anonymize('t', k=5, method='r_gather', hierarchies={'zip': 'prefix'}).
SELECT _means.* REPLACE (${modes})
    FROM (${means}) AS _means
    JOIN (SELECT __kanon_class, ${counted} FROM _labelled GROUP BY __kanon_class) AS _modes USING (__kanon_class)
