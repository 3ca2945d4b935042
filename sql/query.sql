-- name: release
-- The released rows: SELECT * FROM anonymize('patients', k=5).
WITH ${pipeline},
${stages}
${rows}

-- name: stages_of_classes
-- The released rows where nothing else passes: each class as often as it has rows.
__kanon_released AS NOT MATERIALIZED (  -- columns in their old order
    (SELECT 0::BIGINT AS __kanon_rows, __kanon_blank(COLUMNS(* EXCLUDE (${dropped}))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT * EXCLUDE (__kanon_class) FROM __kanon_classes JOIN __kanon_counts USING (__kanon_class))
)

-- name: rows_of_classes
-- These rows in an order that tells nothing, by a seeded hash of what is released. What stands after
-- the ORDER BY keeps it: a projection that repeats each row in its place.
SELECT * EXCLUDE (__kanon_each)
FROM (SELECT * EXCLUDE (__kanon_rows), unnest(range(__kanon_rows)) AS __kanon_each
      FROM (SELECT __kanon_rows,
                   __kanon_without_statistics(COLUMNS(__kanon.* EXCLUDE (__kanon_rows)))
            FROM __kanon_released AS __kanon, __kanon_check
            WHERE __kanon_check.passed
            ORDER BY ${order} ASC))

-- name: stages_of_sets
-- The released rows where classes release what they hold, such as {a, b, c}: that may be as long as
-- the class, so it is held once per class, in a list, and put in its rows when they are in order.
-- The order tells nothing: by a seeded hash of what is released. What stands after the ORDER BY
-- keeps it: a projection, a cross product with one row, and UNION ALL.
__kanon_sets AS MATERIALIZED (  -- the values of all classes
    SELECT list(__kanon_classes ORDER BY __kanon_class ASC) AS __kanon_list FROM __kanon_classes
),
__kanon_places AS (  -- where in that list a class stands
    SELECT __kanon_class, row_number() OVER (ORDER BY __kanon_class ASC) AS __kanon_place,
           md5(__kanon_row_text(row('', *COLUMNS(* EXCLUDE (__kanon_class))))) AS __kanon_digest
    FROM __kanon_classes
),
__kanon_ordered AS NOT MATERIALIZED (
    SELECT * EXCLUDE (__kanon_digest)
    FROM (SELECT __kanon_place, __kanon_digest${passing}
          FROM __kanon_labelled JOIN __kanon_places USING (__kanon_class)
          WHERE (SELECT passed FROM __kanon_check)) AS __kanon
    ORDER BY ${order}
),
__kanon_released AS NOT MATERIALIZED (  -- columns in their old order
    (SELECT __kanon_nothing(COLUMNS(* EXCLUDE (${dropped}))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT * EXCLUDE (__kanon_class, __kanon_place)
     FROM (SELECT UNNEST(__kanon_list[__kanon_place]), __kanon_ordered.*
           FROM __kanon_ordered CROSS JOIN __kanon_sets))
)

-- name: rows_of_sets
-- These rows, as they stand: SELECT * FROM anonymize('patients', k=5, representation='bounds').
SELECT __kanon_without_statistics(__kanon_plain(COLUMNS(*${hidden})))
FROM __kanon_released

-- name: stages_of_rows
-- The released rows. Only here has each row the values of its class: before, they are held once per
-- class.
__kanon_released AS NOT MATERIALIZED (  -- columns in their old order
    (SELECT __kanon_blank(COLUMNS(* EXCLUDE (${dropped}))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT __kanon_classes.* EXCLUDE (__kanon_class)${passing}
     FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class))
)

-- name: rows
-- These rows in an order that tells nothing: by a seeded hash of what is released.
SELECT __kanon_without_statistics(COLUMNS(__kanon.*${hidden}))
FROM __kanon_released AS __kanon, __kanon_check
WHERE __kanon_check.passed
ORDER BY ${order}

-- name: clusters
-- The published clusters: FROM anonymize_clusters('patients', k=5, sensitive=['disease']).
-- The radius is rounded up: center and exact radius would give the value of a row on the border.
WITH ${pipeline},
${measured},
__kanon_members AS (  -- what the rows of a class tell, and once more that they are k or more
    SELECT __kanon_labelled.__kanon_class,
           CASE WHEN count(*) < ${k}
                THEN __kanon_refuse(${small_kind}, format(${small_error}, count(*)))
                ELSE count(*) END AS num_points,
           __kanon_two_digits(any_value(__kanon_radii.radius)) AS radius${multisets}
    FROM __kanon_labelled JOIN __kanon_radii USING (__kanon_class)
    GROUP BY __kanon_labelled.__kanon_class
),
__kanon_clusters AS (
    SELECT __kanon_plain(COLUMNS(__kanon_classes.* EXCLUDE (__kanon_class))),
           __kanon_members.* EXCLUDE (__kanon_class)
    FROM __kanon_classes JOIN __kanon_members USING (__kanon_class)
)
SELECT __kanon_without_statistics(COLUMNS(__kanon.*))
FROM __kanon_clusters AS __kanon, __kanon_check
WHERE __kanon_check.passed
ORDER BY md5(concat('${seed} ', __kanon_row_text(row(*COLUMNS(__kanon.*))))) ASC

-- name: suppressed
-- The rows that a release leaves out: FROM suppressed_rows('patients', k=5, suppress=0.01).
WITH ${pipeline}${reasons}
SELECT __kanon_row AS row_number${values}
FROM __kanon_source${joined}, __kanon_check
WHERE __kanon_check.passed
  AND __kanon_row NOT IN (SELECT __kanon_row FROM __kanon_labels WHERE __kanon_class >= 0)
ORDER BY __kanon_row ASC
