-- Whether a ledger keeps what it promises: FROM ledger_check('releases', k=5).
WITH ${sound},
__kanon_ledger AS MATERIALIZED (
    SELECT TRY_CAST(release::VARCHAR AS BIGINT) AS release, __kanon_key(entity) AS person,
           TRY_CAST(class::VARCHAR AS BIGINT) AS class
    FROM ${relation} AS __kanon
),
__kanon_exposed AS MATERIALIZED (
    FROM __kanon_ledger WHERE release IS NOT NULL AND person IS NOT NULL AND class IS NOT NULL
),
${crowds},
__kanon_told AS (
    SELECT (SELECT count(*) FROM __kanon_ledger) AS exposures,
           (SELECT count(*) FROM __kanon_exposed) AS complete,
           (SELECT count(*) FROM (SELECT DISTINCT release, person FROM __kanon_exposed)) AS single,
           (SELECT count(DISTINCT release) FROM __kanon_exposed) AS releases,
           (SELECT coalesce(max(release), 0) FROM __kanon_exposed) AS last_release,
           (SELECT coalesce(min(release), 1) FROM __kanon_exposed) AS first_release,
           coalesce(sum(persons), 0)::BIGINT AS persons,
           min(crowd) AS presence, min(persons) AS absence,
           coalesce(sum(persons) FILTER (WHERE crowd < ${k}), 0)::BIGINT AS below_presence,
           coalesce(sum(persons) FILTER (WHERE persons < ${k}), 0)::BIGINT AS below_absence
    FROM __kanon_crowds
)
SELECT releases, persons, exposures,
       presence AS presence_crowd_min,
       absence AS absence_crowd_min,
       ${k}::BIGINT AS k_asked,
       CASE WHEN ${k} IS NOT NULL THEN below_presence END AS presence_persons_below_k,
       CASE WHEN ${k} IS NOT NULL THEN below_absence END AS absence_persons_below_k,
       exposures - complete AS rows_incomplete,
       complete - single AS rows_doubled,
       CASE WHEN first_release < 1 THEN NULL ELSE last_release - releases END AS releases_missing,
       CASE WHEN ${k} IS NULL THEN NULL
            ELSE presence >= ${k} AND exposures = single AND first_release >= 1
                 AND last_release = releases END AS keeps_presence,
       CASE WHEN ${k} IS NULL THEN NULL
            ELSE absence >= ${k} AND exposures = single AND first_release >= 1
                 AND last_release = releases END AS keeps_absence
FROM __kanon_told, __kanon_sound
WHERE __kanon_sound.sound
