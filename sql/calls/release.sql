-- The released rows, in an order that tells nothing: by a seeded hash of what is released.
WITH ${pipeline}
SELECT __kanon.*${hidden}
FROM __kanon_released AS __kanon, __kanon_check
WHERE __kanon_check.passed
ORDER BY ${order}
