-- The released rows, in an order that tells nothing: by a seeded hash of what is released.
-- Only here has each row the values of its class: before, they are held once per class.
WITH ${pipeline},
__kanon_released AS NOT MATERIALIZED (  -- columns in their old order
    (SELECT __kanon_blank(COLUMNS(* EXCLUDE (${dropped}))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT __kanon_classes.* EXCLUDE (__kanon_class)${passing}
     FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class))
)
SELECT __kanon_without_statistics(COLUMNS(__kanon.*${hidden}))
FROM __kanon_released AS __kanon, __kanon_check
WHERE __kanon_check.passed
ORDER BY ${order}
