-- name: head
-- kanon_sql's audit in plain SQL: it runs in every DuckDB from 1.4 on, in any client, without Python.
--
--     .read kanon_audit.sql
--     FROM k_anonymity('release.parquet', ['age', 'zip'], k := 5);
--     FROM privacy_models('release.parquet', ['age', 'zip'], 'disease');
--     FROM k_map('release.parquet', 'census', ['age', 'zip']);
--     FROM verify_release('release.parquet');
--
-- A relation is the name of a table or view, or the path of a file, in quotes. The macros are temporary:
-- they write nothing into the database. Where kanon_sql is registered, its own calls have these names
-- already; don't read the file there. It is generated from the SQL of those calls, version ${version}:
-- edit that.

-- name: listed
-- Refuses what isn't a list of columns: a text alone would be taken for a pattern.
CASE WHEN ${columns} IS NULL OR NOT ends_with(typeof(${columns}), '[]') OR len(${columns}) = 0
    THEN error('quasi_identifiers must be a list of column names, such as [''age'', ''zip''].')
    ELSE true END

-- name: k_anonymity
-- Class sizes and the risk that follows from them: FROM k_anonymity('release', ['age', 'zip'], k := 5).
CREATE OR REPLACE TEMP MACRO k_anonymity(relation, quasi_identifiers, k := NULL) AS TABLE
WITH ${sizes}
SELECT ${figures}
FROM __kanon_sizes
WHERE ${listed};

-- name: privacy_models
-- What the worst class has of a sensitive column, on the scale of each privacy model:
-- FROM privacy_models('release', ['age', 'zip'], 'disease').
CREATE OR REPLACE TEMP MACRO privacy_models(relation, quasi_identifiers, sensitive) AS TABLE
WITH ${stages}
SELECT sensitive::VARCHAR AS sensitive,
       ${measured}
WHERE ${listed};

-- name: rows_and_column
-- The rows with one column under a fixed name: a part of privacy_models('release', ['age'], 'disease').
(SELECT COLUMNS(quasi_identifiers), COLUMNS([sensitive]) AS __kanon_sensitive FROM query_table(relation))

-- name: k_map
-- The risk against a population: FROM k_map('release', 'census', ['age', 'zip']).
CREATE OR REPLACE TEMP MACRO k_map(relation, population, quasi_identifiers, k := NULL) AS TABLE
WITH __kanon_kept AS (
    SELECT __kanon_key(COLUMNS(quasi_identifiers)) FROM query_table(relation)
),
${people}
__kanon_pairs AS MATERIALIZED (
    SELECT here, people, count(*) AS classes, sum(short)::BIGINT AS short FROM __kanon_met GROUP BY ALL
)
SELECT ${metrics}
FROM ${facts}
WHERE ${listed};
