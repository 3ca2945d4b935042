-- A sample of rows by a hash of their quasi-identifiers, for kanon_sql.anonymize_files. Rows that are
-- alike are all in it or none, so of those that many are like, as a count by a few thousand hashes
-- tells, it has as many as it should: `many` times the row.
WITH __kanon_rows AS NOT MATERIALIZED (SELECT *, hash(row(${quasi})) AS __kanon_mix FROM ${rows}),
__kanon_crowded AS (
    SELECT __kanon_mix >> 48 AS bucket FROM __kanon_rows GROUP BY ALL HAVING count(*) > ${crowd}
)
SELECT * EXCLUDE (rows, mix, crowded),
       CASE WHEN crowded THEN (rows + ${every} - 1 - (mix % ${every})::BIGINT) // ${every}
            ELSE rows END::BIGINT AS many
FROM (
    SELECT ${cells}, __kanon_mix AS mix, __kanon_mix >> 48 IN (FROM __kanon_crowded) AS crowded,
           count(*) AS rows
    FROM __kanon_rows WHERE __kanon_mix % ${every} = 0 OR crowded
    GROUP BY ALL
)
ORDER BY ALL
