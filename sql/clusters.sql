-- The published clusters: FROM anonymize_clusters('patients', k=5, sensitive := ['disease']).
WITH ${pipeline},
${measured},
_clusters AS (
    SELECT _classes.* EXCLUDE (__kanon_class), members.* EXCLUDE (__kanon_class)
    FROM _classes
    JOIN (SELECT __kanon_class, count(*) AS num_points, any_value(radius) AS radius${multisets}
          FROM _labelled JOIN _radii USING (__kanon_class)
          GROUP BY __kanon_class) AS members USING (__kanon_class)
)
SELECT __kanon.*
FROM _clusters AS __kanon, _check
WHERE passed AND CASE WHEN num_points < ${k} THEN error(format(${small_error}, num_points))
                      ELSE true END
ORDER BY md5(concat('${seed} ', __kanon::VARCHAR))
