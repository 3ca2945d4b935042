-- People per class of a population: a part of anonymize_risk('patients', population='census').
-- Values are compared as text, since their types may differ; there are as many people as rows at least.
__kanon_everybody AS MATERIALIZED (
    SELECT count(*) AS there, [${cells}] AS cells FROM ${population} AS __kanon${where} GROUP BY ALL
),
__kanon_met AS (
    SELECT here, greatest(coalesce(there, 0), here)::DOUBLE AS people,
           CASE WHEN coalesce(there, 0) < here THEN here ELSE 0 END AS short
    FROM (SELECT count(*) AS here, [${cells}] AS cells FROM __kanon_kept GROUP BY ALL)
    LEFT JOIN __kanon_everybody USING (cells)
),
