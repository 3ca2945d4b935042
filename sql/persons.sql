-- name: told
-- What each column that passes tells of persons, and those that tell nearly all of them apart: a part
-- of anonymize('t', k=5, entity='patient_id').
__kanon_told AS MATERIALIZED (
    SELECT [*COLUMNS(*)] AS told
    FROM (SELECT __kanon_of_persons(COLUMNS(* EXCLUDE (__kanon_whose)), ${least})
          FROM (SELECT __kanon_whose, __kanon_of_person(COLUMNS(* EXCLUDE (__kanon_whose)))
                FROM (SELECT decode(encode(__kanon_key(${entity}))) AS __kanon_whose,
                             NULL AS __kanon_none${passing}
                      FROM __kanon_source)
                GROUP BY __kanon_whose))
),

-- name: withheld_persons
-- The columns without a role that look like identifiers by their rows, or that tell persons apart as
-- the entity does, where others='release': a part of
-- anonymize('t', k=5, quasi_identifiers=['age'], entity='patient_id', others='release').
__kanon_withheld AS MATERIALIZED (
    SELECT list_transform(
        list_filter(told, lambda known: list_contains(alike, known.name) OR (
            __kanon_is_entity(known) AND NOT list_contains(${known}, __kanon_caseless(known.name)))),
        lambda known: known.name) AS names
    FROM (SELECT list_transform(
              list_filter([*COLUMNS(*)], lambda profile: __kanon_looks_like_identifier(profile)),
              lambda profile: profile.name) AS alike
          FROM (SELECT __kanon_profile(COLUMNS(*), ${least})
                FROM (SELECT NULL AS __kanon_none, * EXCLUDE (${named}) FROM __kanon_source)))
    CROSS JOIN __kanon_told
),

-- name: keys
-- Name and type of the entity, and the names of the columns that tell persons apart as it does: a
-- part of anonymize('t', k=5, entity='patient_id').
list_concat(__kanon_describe(${entity}),
            (SELECT list_transform(
                 list_filter(told, lambda known: __kanon_like_entity(known, ${nearly})),
                 lambda known: known.name)
             FROM __kanon_told))

-- name: crowds
-- How many rows of whom are in each combination, and in how many of these everybody is: a part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], entity='patient_id', k=5).
__kanon_whose AS MATERIALIZED (
    SELECT combination, entity, count(*) AS size
    FROM (SELECT combination, ${whose} AS entity FROM __kanon_sets)
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

-- name: columns_of_persons
-- What an audit says of persons: a part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], entity='patient_id', k=5).
any_value(persons) AS persons,
       any_value(most_rows) AS rows_per_person_max,
       min(crowd) AS k_persons,
       min(__kanon_size // most) AS k_apart,
       any_value(scattered) AS persons_in_several_classes,
       count(*) FILTER (WHERE crowd = 1) AS classes_of_one_person,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE crowd < ${k}) END AS classes_below_k_persons,
       1.0::DOUBLE / min(crowd) AS prosecutor_risk_max_persons

-- name: stages
-- Whose rows are in which class, -1 standing for rows that are left out; and how many persons the
-- combinations of released values have, who count once in each part as ``coming``: a part of anonymize('t', k=5, entity='patient_id').
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
    SELECT everybody, came, coming, left_out, places, fewest, most_rows, mean_rows, strangers${due}
    FROM (SELECT count(DISTINCT entity) AS everybody,
                 count(DISTINCT entity) FILTER (WHERE __kanon_class >= 0) AS came,
                 count(DISTINCT ${coming}) FILTER (WHERE __kanon_class >= 0) AS coming,
                 count(DISTINCT entity) FILTER (WHERE __kanon_class < 0) AS left_out,
                 count(*) AS places, count(*) FILTER (WHERE entity IS NULL) AS strangers${counted}
          FROM __kanon_whose)
    CROSS JOIN (SELECT min(persons) AS fewest FROM __kanon_crowds)
    CROSS JOIN (SELECT max(size)::BIGINT AS most_rows, avg(size) AS mean_rows
                FROM (SELECT sum(size) AS size FROM __kanon_whose
                      WHERE __kanon_class >= 0 GROUP BY entity))
),

-- name: lacking
-- Persons of whom rows were left out, by the grouping or since they lack a value: a part of
-- anonymize_metrics('t', k=5, entity='patient_id', nulls='suppress').
(SELECT count(DISTINCT entity)
    FROM (SELECT entity FROM __kanon_whose WHERE __kanon_class < 0
          UNION ALL
          SELECT decode(encode(__kanon_key(${entity}))) FROM __kanon_source
          WHERE __kanon_row NOT IN (SELECT __kanon_row FROM __kanon_kept)))

-- name: refused
-- Refuses a release that has not what it promises of persons: a part of
-- anonymize('t', k=5, entity='patient_id').
coalesce((SELECT ${broken} FROM __kanon_persons), true)
    THEN __kanon_refuse('ReleaseError', format(
        ${said}, (SELECT ${found} FROM __kanon_persons)))

-- name: out
-- Whether more persons are left out than may be: a part of
-- anonymize('t', k=5, entity='patient_id', suppress=0.01).
(SELECT left_out > floor(${share}::DOUBLE * everybody) FROM __kanon_persons)

-- name: row_out
-- Whether more rows are left out than may be: a part of anonymize('t', k=5, suppress=0.01).
any_value(__kanon_out) > floor(${share}::DOUBLE * any_value(__kanon_kept_count))
