-- The released rows where nothing else passes: each class as often as it has rows, in an order that
-- tells nothing, by a seeded hash of what is released. What stands after the ORDER BY keeps it: a
-- projection that repeats each row in its place.
WITH ${pipeline},
__kanon_released AS NOT MATERIALIZED (  -- columns in their old order
    (SELECT 0::BIGINT AS __kanon_rows, __kanon_blank(COLUMNS(* EXCLUDE (${dropped}))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT * EXCLUDE (__kanon_class) FROM __kanon_classes JOIN __kanon_counts USING (__kanon_class))
)
SELECT * EXCLUDE (__kanon_each)
FROM (SELECT * EXCLUDE (__kanon_rows), unnest(range(__kanon_rows)) AS __kanon_each
      FROM (SELECT __kanon_rows,
                   __kanon_without_statistics(COLUMNS(__kanon.* EXCLUDE (__kanon_rows)))
            FROM __kanon_released AS __kanon, __kanon_check
            WHERE __kanon_check.passed
            ORDER BY ${order} ASC))
