-- The classes that miss a demand on one sensitive column: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease'], l=3).
(SELECT count(*) FILTER (WHERE NOT kept) AS classes_violating,
            coalesce(sum(size) FILTER (WHERE NOT kept), 0)::BIGINT AS ${counted}_violating
     FROM (SELECT size, bool_and(coalesce(passes, false)) AS kept
           FROM (${models})
           GROUP BY combination, size))
