-- One row per metric for each part: FROM anonymize_metrics('visits', k=5, within=['day'], by_part=true).
WITH ${facts}
SELECT ${within}, unnest(__kanon_metrics, max_depth := 2)
FROM (SELECT * FROM (SELECT part AS __kanon_part, ${metrics} AS __kanon_metrics
                     FROM __kanon_facts, __kanon_check
                     WHERE __kanon_check.passed)
      JOIN __kanon_values USING (__kanon_part)
      ORDER BY __kanon_part ASC)
