-- The released rows, in an order that tells nothing: by a seeded hash of what is released.
WITH ${pipeline}
SELECT __kanon.*${hidden}
FROM _released AS __kanon, _check
WHERE _check.passed
ORDER BY ${order}
