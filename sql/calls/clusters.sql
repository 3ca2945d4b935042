-- The published clusters: FROM anonymize_clusters('patients', k=5, sensitive := ['disease']).
WITH ${pipeline},
${measured},
_members AS (  -- what the rows of a class tell, and once more that they are k or more
    SELECT _labelled.__kanon_class,
           CASE WHEN count(*) < ${k}
                THEN __kanon_refuse(${small_kind}, format(${small_error}, count(*)))
                ELSE count(*) END AS num_points,
           any_value(_radii.radius) AS radius${multisets}
    FROM _labelled JOIN _radii USING (__kanon_class)
    GROUP BY _labelled.__kanon_class
),
_clusters AS (
    SELECT _classes.* EXCLUDE (__kanon_class), _members.* EXCLUDE (__kanon_class)
    FROM _classes JOIN _members USING (__kanon_class)
)
SELECT __kanon.*
FROM _clusters AS __kanon, _check
WHERE _check.passed
ORDER BY md5(concat('${seed} ', row(*COLUMNS(__kanon.*))::VARCHAR)) ASC
