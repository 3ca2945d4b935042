-- The rows that a release leaves out: FROM anonymize_suppressed('patients', k=5, suppress := 0.01).
WITH ${pipeline}
SELECT __kanon_row AS row_number${values}
FROM _source, _check
WHERE _check.passed
  AND __kanon_row NOT IN (SELECT __kanon_row FROM _labels WHERE __kanon_class >= 0)
ORDER BY __kanon_row ASC
