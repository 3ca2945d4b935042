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
ORDER BY md5(concat('${seed} ', row(*COLUMNS(__kanon.*))::VARCHAR)) ASC
