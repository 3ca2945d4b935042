-- How many persons rows are of, and the rows of the person who has the most, for
-- kanon_sql.anonymize_files.
SELECT count(*), max(rows) FROM (SELECT count(*) AS rows FROM ${rows} GROUP BY ${entity})
