-- The rows that a release leaves out: FROM anonymize_suppressed('patients', k=5, suppress=0.01).
WITH ${pipeline}${reasons}
SELECT __kanon_row AS row_number${values}
FROM __kanon_source${joined}, __kanon_check
WHERE __kanon_check.passed
  AND __kanon_row NOT IN (SELECT __kanon_row FROM __kanon_labels WHERE __kanon_class >= 0)
ORDER BY __kanon_row ASC
