-- How many persons have each sensitive value in each combination of released values, one whose rows
-- differ having none; encoded: without collation. A part of
-- anonymize('t', k=5, l=3, sensitive=['disease'], entity='patient_id').
SELECT combination, label, min(sorted) AS sorted, min(number) AS number, count(*) AS size
    FROM (SELECT combination, entity,
                 CASE WHEN labels = 1 AND missing = 0 THEN label END AS label,
                 CASE WHEN labels = 1 AND missing = 0 THEN sorted END AS sorted,
                 CASE WHEN labels = 1 AND missing = 0 THEN number END AS number
          FROM (SELECT combination, entity, count(DISTINCT label) AS labels,
                       count(*) FILTER (WHERE label IS NULL) AS missing,
                       min(label) AS label, min(sorted) AS sorted, min(number) AS number
                FROM (SELECT __kanon_combination AS combination,
                             decode(encode(__kanon_key(${entity}))) AS entity,
                             decode(encode(__kanon_key(${column}))) AS label,
                             __kanon_value(${column}) AS sorted,
                             (__kanon_cell(${column})).number AS number
                      FROM __kanon_labelled JOIN __kanon_combinations USING (__kanon_class))
                GROUP BY combination, entity))
    GROUP BY combination, label
