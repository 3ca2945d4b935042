-- name: placed
-- Rows with a place that follows from what they hold, and not from their order: a part of
-- kanon_sql.evidence('patients', k=5). Of equal rows each has a place of its own; with an entity, all
-- rows of a person have one.
(SELECT *, md5(concat(__kanon_text, ':', ${number}, ':', ${seed})) AS ${place}
 FROM (SELECT __kanon.*, [${columns}]::VARCHAR AS __kanon_text FROM ${relation} AS __kanon))

-- name: half
-- The rows of a table that are released, or held out, for kanon_sql.evidence('patients', k=5).
(SELECT * EXCLUDE (__kanon_text, ${place}) FROM ${placed} WHERE ${place} ${side} ${cut})

-- name: rows
-- The rows of a table as texts by which values are equal, whose each is, and its place; in the order of
-- their places: for kanon_sql.evidence('patients', k=5).
WITH ${unshadowed}
SELECT ${place}, ${cells}, ${person} AS __kanon_person FROM ${placed}, __kanon_unshadowed
WHERE __kanon_unshadowed.passed ORDER BY ALL ASC

-- name: cells
-- The rows of a release as texts by which values are equal, for kanon_sql.evidence('patients', k=5).
WITH ${unshadowed}
SELECT ${cells} FROM ${relation} AS __kanon, __kanon_unshadowed WHERE __kanon_unshadowed.passed
