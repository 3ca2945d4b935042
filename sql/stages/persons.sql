-- Whose rows are in which class, -1 standing for rows that are left out; and how many persons the
-- combinations of released values have: a part of anonymize('t', k=5, entity='patient_id').
__kanon_whose AS MATERIALIZED (
    SELECT ${part}__kanon_class, entity, count(*) AS size
    FROM (SELECT ${of_part}__kanon_class_of(__kanon_grouped.ticket, __kanon_kept.__kanon_row)
                     AS __kanon_class,
                 decode(encode(__kanon_key(__kanon_kept.${entity}))) AS entity
          FROM __kanon_kept CROSS JOIN __kanon_grouped)
    WHERE __kanon_class IS NOT NULL
    GROUP BY ${part}__kanon_class, entity
),
__kanon_crowds AS MATERIALIZED (  -- persons of each combination
    SELECT count(DISTINCT entity) AS persons
    FROM __kanon_whose JOIN __kanon_combinations USING (__kanon_class)
    GROUP BY __kanon_combination
),
__kanon_persons AS MATERIALIZED (
    SELECT everybody, came, left_out, places, fewest, most_rows, mean_rows, strangers${due}
    FROM (SELECT count(DISTINCT entity) AS everybody,
                 count(DISTINCT entity) FILTER (WHERE __kanon_class >= 0) AS came,
                 count(DISTINCT entity) FILTER (WHERE __kanon_class < 0) AS left_out,
                 count(*) AS places, count(*) FILTER (WHERE entity IS NULL) AS strangers${counted}
          FROM __kanon_whose)
    CROSS JOIN (SELECT min(persons) AS fewest FROM __kanon_crowds)
    CROSS JOIN (SELECT max(size)::BIGINT AS most_rows, avg(size) AS mean_rows
                FROM (SELECT sum(size) AS size FROM __kanon_whose
                      WHERE __kanon_class >= 0 GROUP BY entity))
),
