-- What a written file holds: rows, combinations of released values, and the rows of the smallest,
-- for kanon_sql.anonymize_files. No combination is in two files.
SELECT coalesce(sum(size), 0)::BIGINT, count(*), min(size)
FROM (SELECT count(*) AS size, ${seen} FROM ${file} GROUP BY ALL)
