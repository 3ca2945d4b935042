-- name: persons
-- Writes who is in the ledger, or in the files, with what decides of them, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
COPY (
    WITH ${stages},
    ${ledger}__kanon_accounted AS MATERIALIZED (SELECT CASE
${refusals}        ELSE true END AS passed)
    SELECT coalesce(owners.person, past.person) AS person, owners.source, past.history,
           owners.__kanon_row IS NOT NULL AS here,
           coalesce(owners.source <> past.source, false) AS stale,
           (md5_number(concat(${seed}, ' ', release, ' ', past.person)) >> 64)::UBIGINT AS lot
    FROM __kanon_owners AS owners FULL JOIN __kanon_past AS past USING (person)
    CROSS JOIN __kanon_numbered
    WHERE (SELECT passed FROM __kanon_accounted)
) TO ${path} (FORMAT parquet, COMPRESSION lz4, USE_TMP_FILE false)

-- name: numbers
-- The number of the next release, the largest number of a class, and the least k so far, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
SELECT coalesce(max(release), 0)::BIGINT + 1, coalesce(max(class), 0)::BIGINT, min((options ->> 'k')::BIGINT)
FROM (SELECT TRY_CAST(release::VARCHAR AS BIGINT) AS release, TRY_CAST(class::VARCHAR AS BIGINT) AS class,
             options::VARCHAR AS options
      FROM ${ledger} AS __kanon)

-- name: histories
-- The histories of a ledger, how many persons have each, and how many of these may be shown again, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
SELECT history, count(*) AS persons, count(*) FILTER (WHERE here AND NOT stale) AS present
FROM ${persons} WHERE history IS NOT NULL GROUP BY history ORDER BY history

-- name: counts
-- How many persons were never released, and how many changed since they were, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
SELECT count(*) FILTER (WHERE history IS NULL), count(*) FILTER (WHERE stale) FROM ${persons} WHERE here

-- name: shown
-- Who is shown again, and in which class: where not all of a history are, those drawn first, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
CREATE OR REPLACE TEMP TABLE __kanon_shown AS
SELECT person, class
FROM (SELECT person, class, stay,
             row_number() OVER (PARTITION BY history ORDER BY lot ASC, person ASC) AS place
      FROM ${persons} JOIN __kanon_stays USING (history)
      WHERE here AND NOT stale)
WHERE place <= stay

-- name: going_on
-- Writes the classes that go on, and what they published, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
COPY (
    SELECT class, any_value(published) AS published
    FROM (SELECT TRY_CAST(class::VARCHAR AS BIGINT) AS class, published FROM ${ledger} AS __kanon)
    WHERE class IN (SELECT class FROM __kanon_shown)
    GROUP BY class ORDER BY class
) TO ${path} (FORMAT parquet, COMPRESSION lz4, USE_TMP_FILE false)

-- name: known
-- Writes who is shown again, with what the class published then, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
COPY (
    SELECT __kanon.*, hash(row(${seed}, ${quasi})) AS __kanon_of_values,
           hash(row(${seed}, ${values})) AS __kanon_of_all
    FROM (SELECT ${columns}, __kanon_rows.${entity} AS __kanon_whose,
                 __kanon_shown.class AS __kanon_number
          FROM ${rows} AS __kanon_rows
          JOIN __kanon_shown ON __kanon_key(__kanon_rows.${entity}) = __kanon_shown.person
          JOIN ${classes} AS __kanon_classes ON __kanon_classes.class = __kanon_shown.class) AS __kanon
    ORDER BY __kanon_of_values, __kanon_of_all
) TO ${path} (FORMAT parquet, COMPRESSION lz4, ROW_GROUP_SIZE ${group}, PRESERVE_ORDER true, USE_TMP_FILE false)

-- name: newcomers
-- Writes the rows of those who were never released, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
COPY (
    SELECT __kanon_rows.* FROM ${rows} AS __kanon_rows
    ANTI JOIN (FROM ${persons} WHERE history IS NOT NULL) AS __kanon_persons
        ON __kanon_key(__kanon_rows.${entity}) = __kanon_persons.person
) TO ${path} (FORMAT parquet, COMPRESSION lz4, USE_TMP_FILE false)

-- name: values
-- How many of all rows have each value of a column, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet', representation='interval').
SELECT ${number} AS value, count(*) AS size FROM ${rows} GROUP BY ALL

-- name: entries
-- Writes what a release adds to its ledger, one row for each person that is released, for
-- kanon_sql.anonymize_files(..., entity='id', headroom=1, ledger_to='releases/1.parquet').
COPY (
    SELECT ${release}::BIGINT AS release, __kanon_rows.__kanon_whose AS entity,
           __kanon_rows.__kanon_number AS class, __kanon_rows.__kanon_published AS published,
           __kanon_persons.source, ${options} AS options
    FROM (SELECT __kanon_whose, __kanon_number, ${published} AS __kanon_published
          FROM ${pieces}) AS __kanon_rows
    JOIN ${persons} AS __kanon_persons
        ON __kanon_key(__kanon_rows.__kanon_whose) = __kanon_persons.person
    ORDER BY __kanon_rows.__kanon_number ASC, md5(concat('${seed} ', __kanon_persons.person)) ASC
) TO ${path} (FORMAT parquet, COMPRESSION zstd, PRESERVE_ORDER true, USE_TMP_FILE false)

-- name: joining
-- How many persons were never released, and joined a class that was there, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
SELECT count(*) FROM ${entries} AS __kanon_entries
JOIN ${persons} AS __kanon_persons ON __kanon_key(__kanon_entries.entity) = __kanon_persons.person
WHERE __kanon_persons.history IS NULL AND __kanon_entries.class <= ${largest}

-- name: linked
-- What can be linked once the release is out: the smallest crowds, of all in the ledger and of those
-- in this release; how many rows it enters, and persons; and how many of its classes published two
-- things, for kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
WITH __kanon_entered AS NOT MATERIALIZED (
    SELECT release, __kanon_key(entity) AS person, class FROM ${entries}
),
__kanon_exposed AS MATERIALIZED (
    FROM __kanon_entered${before}
),
${crowds}
SELECT min(${counted})::BIGINT,
       min(CASE WHEN last_release = ${release} THEN ${counted} END)::BIGINT,
       (SELECT count(*) FROM __kanon_entered), (SELECT count(DISTINCT person) FROM __kanon_entered),
       (SELECT count(*) FROM (
           SELECT class
           FROM (SELECT DISTINCT class, published FROM (SELECT class, published FROM ${entries}${published}))
           GROUP BY class HAVING count(*) > 1))
FROM __kanon_crowds_after

-- name: before
-- What was linked before, for kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
UNION ALL
    SELECT TRY_CAST(release::VARCHAR AS BIGINT), __kanon_key(entity), TRY_CAST(class::VARCHAR AS BIGINT)
    FROM ${ledger} AS __kanon

-- name: published_before
-- What the classes of a ledger published, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
UNION ALL SELECT TRY_CAST(class::VARCHAR AS BIGINT), published FROM ${ledger} AS __kanon

-- name: unlike
-- How many combinations came out of which the ledger has other numbers of persons, for
-- kanon_sql.anonymize_files(..., entity='id', headroom=1).
WITH __kanon_told AS (SELECT published, count(*) AS size FROM ${entries} GROUP BY published),
__kanon_out AS (
    SELECT published, count(*) AS size
    FROM (SELECT ${published} AS published FROM ${files} AS __kanon) GROUP BY published
)
SELECT count(*) FROM (
    (FROM __kanon_told EXCEPT FROM __kanon_out) UNION ALL (FROM __kanon_out EXCEPT FROM __kanon_told)
)

-- name: people
-- Of whom rows would be released their class, what was released of them before, and what privacy
-- models look at, for kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet', l=2).
SELECT __kanon_rows.__kanon_number AS class, __kanon_persons.history, ${cells}
FROM ${pieces} AS __kanon_rows
JOIN ${persons} AS __kanon_persons ON __kanon_key(__kanon_rows.__kanon_whose) = __kanon_persons.person

-- name: left
-- Who is left out so that the others keep the privacy models, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet', l=2).
CREATE OR REPLACE TEMP TABLE __kanon_left AS
SELECT __kanon_persons.person
FROM ${pieces} AS __kanon_rows
JOIN ${persons} AS __kanon_persons ON __kanon_key(__kanon_rows.__kanon_whose) = __kanon_persons.person
JOIN __kanon_leaving ON __kanon_rows.__kanon_number = __kanon_leaving.class
    AND __kanon_persons.history IS NOT DISTINCT FROM __kanon_leaving.history

-- name: leaving
-- How many rows of a file are of those who are left out, and how many it has, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet', l=2).
SELECT count(*) FILTER (WHERE __kanon_key(__kanon_whose) IN (FROM __kanon_left)), count(*) FROM ${piece}

-- name: kept
-- Writes the rows of the others, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet', l=2).
COPY (
    SELECT * FROM ${piece} WHERE __kanon_key(__kanon_whose) NOT IN (FROM __kanon_left) ORDER BY ${order}
) TO ${path} (FORMAT parquet, COMPRESSION lz4, ROW_GROUP_SIZE ${group}, PRESERVE_ORDER true, USE_TMP_FILE false)

-- name: models
-- How many combinations of released values don't keep a privacy model, or crowds, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet', l=2).
WITH __kanon_labelled AS MATERIALIZED (
    SELECT __kanon_key(__kanon_whose) AS __kanon_row, __kanon_number AS __kanon_class,
           __kanon_whose AS ${entity}, * EXCLUDE (__kanon_whose, __kanon_number)
    FROM ${pieces}
),
__kanon_classes AS MATERIALIZED (SELECT DISTINCT __kanon_class, ${quasi} FROM __kanon_labelled),
${combinations}__kanon_sizes AS (SELECT DISTINCT __kanon_combination FROM __kanon_combinations),
${models}${crowds}__kanon_all AS (SELECT broken FROM __kanon_models${also})
SELECT CASE WHEN count(*) = count(broken) THEN max(broken) END::BIGINT FROM __kanon_all

-- name: crowds
-- The crowds of a release, and how many of them don't keep their models, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet', l=2).
__kanon_numbered AS (SELECT ${release}::BIGINT AS release),
__kanon_entries AS MATERIALIZED (
    SELECT release, __kanon_key(entity) AS person, class, __kanon_key(entity) AS __kanon_row
    FROM ${entries}
),
__kanon_exposed AS MATERIALIZED (
    SELECT release, person, class FROM __kanon_entries${before}
),
${crowds},
${models}
-- name: broken_crowds
-- Those beside the combinations, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet', l=2).
UNION ALL SELECT broken FROM __kanon_models_of_crowds
