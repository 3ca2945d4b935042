-- One row per metric: FROM anonymize_metrics('patients', k=5).
WITH ${facts}
SELECT unnest(${metrics}, max_depth := 2)
FROM __kanon_facts, __kanon_check
WHERE __kanon_check.passed
