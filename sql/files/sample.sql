-- A sample of rows by a hash of what they hold, for kanon_sql.anonymize_files.
SELECT ${cells}
FROM (SELECT *, hash(row(*COLUMNS(*))) AS __kanon_mix FROM ${rows})
WHERE __kanon_mix % ${every} = 0
ORDER BY ALL
