-- The persons of each part: a part of
-- anonymize_metrics('t', k=5, entity='patient_id', within=['day'], by_part=true).
__kanon_persons_of AS MATERIALIZED (
    SELECT part, came, left_out, fewest, most_rows, mean_rows
    FROM (SELECT part, count(DISTINCT entity) FILTER (WHERE __kanon_class >= 0) AS came,
                 count(DISTINCT entity) FILTER (WHERE __kanon_class < 0) AS left_out
          FROM __kanon_whose GROUP BY part)
    LEFT JOIN (
        SELECT part, min(persons) AS fewest
        FROM (SELECT part, count(DISTINCT entity) AS persons
              FROM __kanon_whose JOIN __kanon_combinations USING (__kanon_class)
              GROUP BY part, __kanon_combination)
        GROUP BY part) USING (part)
    LEFT JOIN (
        SELECT part, max(size)::BIGINT AS most_rows, avg(size) AS mean_rows
        FROM (SELECT part, sum(size) AS size FROM __kanon_whose
              WHERE __kanon_class >= 0 GROUP BY part, entity)
        GROUP BY part) USING (part)
),
