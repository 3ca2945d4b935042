-- What the classes of a release say of a sensitive column: its values in a class (a missing one is a
-- value) and the rows of the most frequent one, with how many classes there are of each kind; for
-- kanon_sql.report('patients.parquet', k=5, sensitive=['disease']).
SELECT size, len(many) AS different, list_max(many) AS most, count(*) AS classes
FROM (SELECT len(shown) AS size, map_values(list_aggregate(shown, 'histogram')) AS many
      FROM (SELECT list(coalesce('=' || ${column}::VARCHAR, '')) AS shown, ${seen}
            FROM ${relation} GROUP BY ALL))
GROUP BY size, different, most ORDER BY size ASC, different ASC, most ASC
