-- name: stages
-- The parts: each combination of values of the columns of within, numbered in the order of these,
-- with its rows; and the rows that take part, each with the number of its part. A part of
-- anonymize('t', k=5, within=['day']).
__kanon_found AS MATERIALIZED (  -- the combinations that are there
    SELECT ${rows} AS "rows", ${persons} AS persons, ${found}
    FROM __kanon_taking GROUP BY ALL
),
__kanon_numbered AS MATERIALIZED (  -- their numbers, and which of them are too small
    SELECT row_number() OVER (ORDER BY ${order}) AS number, ${small} AS small, *
    FROM __kanon_found
),
${joining}__kanon_parts AS MATERIALIZED (  -- what becomes of them; -1 is left out, 0 put together
    ${parts}
),
__kanon_kept AS NOT MATERIALIZED (  -- the rows that take part, read anew by each, not held twice
    SELECT __kanon_taking.* REPLACE (${replaced})
    FROM __kanon_taking JOIN __kanon_parts
        ON ${same}
),

-- name: error
-- What becomes of parts where none may be too small: a part of anonymize('t', k=5, within=['day']).
SELECT *, false AS joined FROM __kanon_numbered

-- name: join
-- What becomes of parts where small ones are put together: a part of
-- anonymize('t', k=5, within=['day'], small_parts='join').
SELECT * EXCLUDE (rank, last, any_small)
           REPLACE (CASE WHEN any_small AND rank <= last THEN 0 ELSE number END AS number),
           any_small AND coalesce(rank <= last, true) AS joined
    FROM __kanon_numbered JOIN __kanon_ranked USING (number) CROSS JOIN __kanon_last

-- name: suppress
-- What becomes of parts where small ones are left out: a part of
-- anonymize('t', k=5, within=['day'], small_parts='suppress').
SELECT * REPLACE (CASE WHEN small THEN -1 ELSE number END AS number), false AS joined
    FROM __kanon_numbered

-- name: joining_people
-- The persons that no part has that was taken before: a part of
-- anonymize('t', k=5, within=['day'], small_parts='join', entity='patient_id').
LEFT JOIN (
              SELECT rank, count(*) AS fresh
              FROM (SELECT min(rank) AS rank
                    FROM __kanon_taking JOIN __kanon_numbered
                        ON ${same}
                    JOIN __kanon_ranked USING (number)
                    GROUP BY ${entity})
              GROUP BY rank) USING (rank)

-- name: joining
-- Which parts are put together: the small ones, and one that has the values of joined ones already;
-- then the others, the smallest first, until it is enough. A part of
-- anonymize('t', k=5, within=['day'], small_parts='join').
__kanon_ranked AS MATERIALIZED (  -- the order in which they are taken
    SELECT number, row_number() OVER (ORDER BY NOT needed ASC, ${size} ASC, number ASC) AS rank, needed
    FROM (SELECT *, small OR (${starred}) AS needed FROM __kanon_numbered)
),
__kanon_grown AS (  -- what those have together that are taken up to each
    SELECT rank, needed, system.main.sum("rows") OVER upto AS "rows", system.main.sum(persons) OVER upto AS persons
    FROM (SELECT rank, needed, "rows", ${fresh} AS persons
          FROM __kanon_ranked JOIN __kanon_numbered USING (number)${people})
    WINDOW upto AS (ORDER BY rank ASC ROWS UNBOUNDED PRECEDING)
),
__kanon_last AS MATERIALIZED (  -- the last that is taken, NULL where all together are too few
    SELECT (SELECT count(*) > 0 FROM __kanon_numbered WHERE small) AS any_small,
           (SELECT min(rank) FROM __kanon_grown WHERE NOT (${small})
            AND rank >= (SELECT count(*) FROM __kanon_ranked WHERE needed)) AS last
),

-- name: classes_of_parts
-- What each class releases, with the columns of within: a part of
-- anonymize('t', k=5, within=['day']).
SELECT * FROM (${classes})
    JOIN (SELECT __kanon_class, ${within} FROM __kanon_labelled GROUP BY __kanon_class)
        USING (__kanon_class)

-- name: refused
-- Refuses parts that are too small: a part of anonymize('t', k=5, within=['day']).
__kanon_refuse('DataError', (
    SELECT format(${said}, count(*) FILTER (WHERE small), count(*),
                  coalesce(sum("rows") FILTER (WHERE small), 0)::BIGINT)
    FROM __kanon_parts))

-- name: left
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

-- name: out
-- Whether more rows of a part are left out than may be: a part of
-- anonymize('t', k=5, within=['day'], suppress=0.01).
(SELECT coalesce(bool_or("${out}" > floor(${share}::DOUBLE * "${all}")), false)
    FROM __kanon_left WHERE part >= 0)

-- name: models_by_part
-- What the worst combination of each part has, of one model: a part of
-- anonymize_metrics('t', k=5, l=3, sensitive=['disease'], within=['day'], by_part=true).
SELECT part, ${j} AS model, ${worst} AS has
    FROM ${stage} JOIN (SELECT part, combination FROM __kanon_spread_${i}) USING (combination)
    GROUP BY part

-- name: persons_by_part
-- The persons of each part: a part of
-- anonymize_metrics('t', k=5, entity='patient_id', within=['day'], by_part=true).
__kanon_persons_of AS MATERIALIZED (
    SELECT part, came, came AS coming, left_out, fewest, most_rows, mean_rows
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

-- name: verbatim_by_part
-- How many published centers of each part are a row of it, NULL equal to NULL: a part of
-- anonymize_metrics('t', k=5, method='r_gather', within=['day'], by_part=true).
LEFT JOIN (
        SELECT part, count(DISTINCT center) FILTER (WHERE there) AS centers_equal_to_a_row
        FROM (SELECT part, center, row(part, center) IN (
                         SELECT row(__kanon_secrets[len(__kanon_secrets)].number::BIGINT, cells)
                         FROM __kanon_cells) AS there
              FROM __kanon_centers
              JOIN (SELECT DISTINCT __kanon_class, __kanon_part AS part FROM __kanon_labelled)
                  USING (__kanon_class))
        GROUP BY part) USING (part)
