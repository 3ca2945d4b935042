-- The released rows where classes release what they hold, such as {a, b, c}: that may be as long as
-- the class, so it is held once per class, in a list, and put in its rows when they are in order.
-- The order tells nothing: by a seeded hash of what is released. What stands after the ORDER BY
-- keeps it: a projection, a cross product with one row, and UNION ALL.
WITH ${pipeline},
__kanon_sets AS MATERIALIZED (  -- the values of all classes
    SELECT list(__kanon_classes ORDER BY __kanon_class ASC) AS __kanon_list FROM __kanon_classes
),
__kanon_places AS (  -- where in that list a class stands
    SELECT __kanon_class, row_number() OVER (ORDER BY __kanon_class ASC) AS __kanon_place,
           md5(row('', *COLUMNS(* EXCLUDE (__kanon_class)))::VARCHAR) AS __kanon_digest
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
SELECT __kanon_without_statistics(__kanon_plain(COLUMNS(*${hidden})))
FROM __kanon_released
