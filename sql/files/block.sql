-- One block, released: its rows in an order that tells nothing, and the hashes by which those of all
-- blocks are put in one, for kanon_sql.anonymize_files.
WITH ${pipeline},
__kanon_released AS NOT MATERIALIZED (  -- columns in their old order
    (SELECT __kanon_blank(COLUMNS(* EXCLUDE (${dropped}))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT __kanon_classes.* EXCLUDE (__kanon_class)${passing}
     FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class))
)
SELECT __kanon.*, hash(row(${seed}, ${quasi})) AS __kanon_of_values,
       hash(row(${seed}, *COLUMNS(__kanon.*))) AS __kanon_of_all
FROM __kanon_released AS __kanon, __kanon_check
WHERE __kanon_check.passed
ORDER BY __kanon_of_values, __kanon_of_all
