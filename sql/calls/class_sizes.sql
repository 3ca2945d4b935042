-- How many classes of each size a release has, for Python: FROM released GROUP BY its columns.
SELECT size, count(*) AS classes
FROM (SELECT count(*) AS size FROM ${relation} GROUP BY ${columns})
GROUP BY size ORDER BY size
