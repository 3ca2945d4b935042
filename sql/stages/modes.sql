-- The centroids where columns have a hierarchy, and so no mean: there the most frequent value. A
-- part of anonymize('t', k=5, method='r_gather', hierarchies={'zip': 'prefix'}).
SELECT __kanon_means.* REPLACE (${modes})
    FROM (${means}) AS __kanon_means
    JOIN (SELECT __kanon_class, ${counted} FROM __kanon_labelled GROUP BY __kanon_class)
        AS __kanon_modes USING (__kanon_class)
