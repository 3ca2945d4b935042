-- How many persons have each sensitive value in each combination of released values, one whose rows
-- differ having none; encoded: without collation. A part of
-- anonymize('t', k=5, l=3, sensitive=['disease'], entity='patient_id').
SELECT ${part}combination, label, min(sorted) AS sorted, min(number) AS number, count(*) AS size
    FROM (SELECT ${part}combination, entity,
                 CASE WHEN labels = 1 AND missing = 0 THEN label END AS label,
                 CASE WHEN labels = 1 AND missing = 0 THEN sorted END AS sorted,
                 CASE WHEN labels = 1 AND missing = 0 THEN number END AS number
          FROM (SELECT ${part}combination, entity, count(DISTINCT label) AS labels,
                       count(*) FILTER (WHERE label IS NULL) AS missing,
                       min(label) AS label, min(sorted) AS sorted, min(number) AS number
                FROM (${rows})
                GROUP BY ${part}combination, entity))
    GROUP BY ${part}combination, label
