-- The rows of each part, and those that are left out, and rows that are not in a class of their own
-- part: a part of anonymize('t', k=5, within=['day']).
__kanon_left AS MATERIALIZED (
    SELECT part, count(*) AS "rows", count(*) FILTER (WHERE __kanon_class < 0) AS "out"${persons}
    FROM (SELECT __kanon_kept.__kanon_part AS part${entity},
                 __kanon_class_of(__kanon_grouped.ticket, __kanon_kept.__kanon_row) AS __kanon_class
          FROM __kanon_kept CROSS JOIN __kanon_grouped)
    GROUP BY part
),
__kanon_strayed AS MATERIALIZED (
    SELECT count(*) AS strayed
    FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class)
    WHERE __kanon_labelled.__kanon_part < 0 OR NOT (${same})
),
