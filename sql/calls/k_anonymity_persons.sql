-- The audit of any table in which persons have several rows:
-- FROM k_anonymity('visits', quasi_identifiers=['age', 'zip'], entity='patient_id', k=5).
WITH ${sound},
__kanon_sets AS (  -- whose the rows of each combination are; encoded: without collation
    SELECT row_number() OVER () AS combination, whose
    FROM (SELECT list(decode(encode(__kanon_key(${entity})))) AS whose, ${seen}
          FROM ${relation} AS __kanon${where} GROUP BY ALL)
),
__kanon_whose AS MATERIALIZED (
    SELECT combination, entity, count(*) AS size
    FROM (SELECT combination, unnest(whose) AS entity FROM __kanon_sets)
    GROUP BY combination, entity
),
__kanon_sizes AS MATERIALIZED (
    SELECT sum(size)::BIGINT AS __kanon_size, count(*) AS crowd, max(size) AS most
    FROM __kanon_whose GROUP BY combination
),
__kanon_persons AS (
    SELECT count(*) AS persons, count(*) FILTER (WHERE places > 1) AS scattered,
           count(*) FILTER (WHERE entity IS NULL) AS nobody,
           coalesce(max("rows"), 0)::BIGINT AS most_rows
    FROM (SELECT entity, count(*) AS places, sum(size) AS "rows" FROM __kanon_whose GROUP BY entity)
)
SELECT min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(*) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       ${k}::BIGINT AS k_asked,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < ${k}) END AS classes_below_k,
       CASE WHEN ${k} IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS risk_mean,
       any_value(persons) AS persons,
       any_value(most_rows) AS rows_per_person_max,
       min(crowd) AS k_persons,
       min(__kanon_size // most) AS k_apart,
       any_value(scattered) AS persons_in_several_classes,
       count(*) FILTER (WHERE crowd = 1) AS classes_of_one_person,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE crowd < ${k}) END AS classes_below_k_persons,
       1.0::DOUBLE / min(crowd) AS risk_max_persons
FROM __kanon_persons CROSS JOIN __kanon_sound LEFT JOIN __kanon_sizes ON true
WHERE __kanon_sound.sound AND CASE
${refusals}        WHEN nobody > 0
            THEN __kanon_refuse('DataError', ${nobody})
        ELSE true END
