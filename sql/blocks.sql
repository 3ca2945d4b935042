-- name: looks
-- How many values a column that nobody named has, and about how many different ones, for
-- kanon_sql.anonymize_files.
{'values': count(${column}), 'about': approx_count_distinct(${column})}

-- name: file
-- Writes one file of a release: of the rows whose values have hashes in a range, or whose places are,
-- whatever block they come from, for kanon_sql.anonymize_files.
COPY (
    SELECT * EXCLUDE (${helpers})${class_id} FROM ${pieces}
    WHERE ${at} >= ${first} AND ${at} <= ${last}
    ORDER BY ${order}
) TO ${path} (FORMAT parquet, COMPRESSION zstd, PRESERVE_ORDER true, USE_TMP_FILE false)

-- name: class_id
-- The number of the class of each row, where so many stand in the files before, for
-- kanon_sql.anonymize_files(..., class_id=True).
, ${before} + dense_rank() OVER (ORDER BY __kanon_of_values ASC, ${quasi}) AS class_id

-- name: classes
-- How many combinations of released values a file will hold, for
-- kanon_sql.anonymize_files(..., class_id=True).
SELECT count(*) FROM (
    SELECT DISTINCT __kanon_of_values, ${quasi} FROM ${pieces}
    WHERE __kanon_of_values >= ${first} AND __kanon_of_values <= ${last}
)

-- name: parts
-- The parts of all rows, and what becomes of them, for kanon_sql.anonymize_files(..., within=['day']).
CREATE OR REPLACE TEMP TABLE __kanon_parts AS
WITH __kanon_taking AS NOT MATERIALIZED (
    SELECT NULL::BIGINT AS __kanon_part, __kanon.* FROM ${rows} AS __kanon
),
${stages}__kanon_accounted AS MATERIALIZED (SELECT CASE
${refusals}        ELSE true END AS passed)
SELECT * FROM __kanon_parts WHERE (SELECT passed FROM __kanon_accounted)

-- name: part_sizes
-- How many rows each part has, those that are put together as one, for
-- kanon_sql.anonymize_files(..., within=['day']).
SELECT number, sum("rows")::BIGINT, bool_or(joined), count(*) FROM __kanon_parts
GROUP BY number ORDER BY number

-- name: spool_parts
-- Writes each row to the folder of its part, or of several small ones, for
-- kanon_sql.anonymize_files(..., within=['day']).
COPY (
    SELECT __kanon_taking.*${replaced}, __kanon_folder
    FROM ${rows} AS __kanon_taking
    JOIN __kanon_parts ON ${same}
    JOIN __kanon_folders USING (number)
) TO ${folder} (FORMAT parquet, PARTITION_BY (__kanon_folder), COMPRESSION lz4, WRITE_PARTITION_COLUMNS false)

-- name: verify
-- What a written file holds: rows, combinations of released values, and the rows of the smallest,
-- for kanon_sql.anonymize_files. No combination is in two files.
SELECT coalesce(sum(size), 0)::BIGINT, count(*), min(size)
FROM (SELECT count(*) AS size, ${seen} FROM ${file} GROUP BY ALL)

-- name: looks_closely
-- The same of a column that may be one of identifiers, exactly, for kanon_sql.anonymize_files.
SELECT coalesce(sum(n), 0)::BIGINT, count(value), coalesce(sum(n) FILTER (WHERE n >= ${least}), 0)::BIGINT,
       min(TRY_CAST(value AS HUGEINT)), max(TRY_CAST(value AS HUGEINT))
FROM (SELECT value, count(*) AS n FROM (SELECT ${column}::VARCHAR AS value FROM ${rows})
      WHERE value IS NOT NULL GROUP BY value)

-- name: one_of_each
-- The value of each person in a column, where all rows of the person have it, for
-- kanon_sql.anonymize_files.
(SELECT ${entity}, any_value(${column}) AS ${column} FROM ${rows}
 GROUP BY ${entity} HAVING count(DISTINCT ${column}) = 1)

-- name: rows
-- The rows of files that take part, with the columns that a release needs: the first pass of
-- kanon_sql.anonymize_files('lake/*.parquet', 'out/', k=5, quasi_identifiers=['age', 'zip']).
(SELECT ${columns} FROM ${relation} AS __kanon${without_nulls})

-- name: block
-- One block, released: its rows in an order that tells nothing, and the hashes by which those of all
-- blocks are put in one, for kanon_sql.anonymize_files.
WITH ${pipeline},
__kanon_released AS NOT MATERIALIZED (  -- columns in their old order
    (SELECT __kanon_blank(COLUMNS(* EXCLUDE (${dropped}))) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (SELECT __kanon_classes.* EXCLUDE (__kanon_class)${passing}
     FROM __kanon_labelled JOIN __kanon_classes USING (__kanon_class))
)
SELECT __kanon.*, hash(row(${seed}, ${quasi})) AS __kanon_of_values,
       hash(row(${seed}, ${values})) AS __kanon_of_all
FROM __kanon_released AS __kanon, __kanon_check
WHERE __kanon_check.passed
ORDER BY __kanon_of_values, __kanon_of_all

-- name: piece
-- Writes the released rows of one block, for kanon_sql.anonymize_files.
COPY (${rows}) TO ${path} (FORMAT parquet, COMPRESSION lz4, ROW_GROUP_SIZE ${group}, PRESERVE_ORDER true, USE_TMP_FILE false)

-- name: persons_of
-- How many persons rows are of, and the rows of the person who has the most, for
-- kanon_sql.anonymize_files.
SELECT count(*), max(rows) FROM (SELECT count(*) AS rows FROM ${rows} GROUP BY ${entity})

-- name: ends
-- What the scale of a column of numbers begins with, for kanon_sql.anonymize_files.
{'known': count(${number}), 'infinite': count(*) FILTER (isinf(${number})),
 'low': min(${number}), 'high': max(${number}), 'steps': ${steps}}

-- name: steps
-- The place of the coarsest steps on which all numbers of a column lie, for
-- kanon_sql.anonymize_files.
max(CASE ${cases} ELSE ${many} END) FILTER (${number} IS NOT NULL)

-- name: sample
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

-- name: counts
-- How many rows have each category, for kanon_sql.anonymize_files.
SELECT category, count(*) AS size FROM (SELECT ${category} AS category FROM ${rows}) GROUP BY ALL

-- name: rank
-- Where the category of a row stands among all, for kanon_sql.anonymize_files.
 LEFT JOIN ${table} ON ${category} = ${table}.__kanon_word

-- name: persons
-- To which leaf all rows of a person go, that of one of them, for kanon_sql.anonymize_files.
CREATE OR REPLACE TEMP TABLE __kanon_leaf_of AS
SELECT __kanon_entity, arg_min(__kanon_leaf, __kanon_open) AS __kanon_leaf
FROM (
    SELECT ${entity} AS __kanon_entity, __kanon_open, ${leaf} AS __kanon_leaf
    FROM (SELECT __kanon_rows.*, hash(row(${open})) AS __kanon_open,
                 hash(row(${depth}, ${entity})) AS __kanon_mix, ${values}
          FROM ${rows} AS __kanon_rows${joins}) AS __kanon
)
GROUP BY __kanon_entity

-- name: spool_persons
-- Writes each row to the folder of the leaf of its person, for kanon_sql.anonymize_files.
COPY (
    SELECT __kanon.*, __kanon_leaf_of.__kanon_leaf
    FROM ${rows} AS __kanon
    LEFT JOIN __kanon_leaf_of ON __kanon.${entity} = __kanon_leaf_of.__kanon_entity
) TO ${folder} (FORMAT parquet, PARTITION_BY (__kanon_leaf), COMPRESSION lz4, WRITE_PARTITION_COLUMNS false)

-- name: dealt
-- What rows are cut by that are alike in all quasi-identifiers, for kanon_sql.anonymize_files: a hash
-- of what isn't sensitive and, where that is alike, too, of the place among all such rows. By what is
-- sensitive those are only ordered, so that every side of a cut has about its share of each value.
hash(row(${depth}, hash(row(${open})), row_number() OVER (
    PARTITION BY hash(row(${open})) ORDER BY hash(row(*COLUMNS(__kanon_rows.*)))
)))

-- name: spool
-- Writes each row to the folder of the leaf that it belongs to, for kanon_sql.anonymize_files.
COPY (
    SELECT __kanon.* EXCLUDE (${places}), ${leaf} AS __kanon_leaf
    FROM (SELECT __kanon_rows.*, ${values}
          FROM ${rows} AS __kanon_rows${joins}) AS __kanon
) TO ${folder} (FORMAT parquet, PARTITION_BY (__kanon_leaf), COMPRESSION lz4, WRITE_PARTITION_COLUMNS false)

-- name: part
-- A value as a part of the range of its column, for kanon_sql.anonymize_files.
round((${number} * ${unit} - ${low}) / ${span} * ${parts})::HUGEINT

-- name: sums
-- Sums of a column and of its squares in whole numbers, which no order of the rows changes, for
-- kanon_sql.anonymize_files: its values as parts of 2^40 of its range.
{'sum': sum(${part})::VARCHAR, 'squares': sum(${part} * ${part})::VARCHAR}

-- name: nodes
-- The rows of all blocks at a node, for kanon_sql.anonymize_files(..., t=0.2,
-- hierarchies={'disease': 'groups'}).
(SELECT system.main.sum(many)
    FROM __kanon_domain_${i} LEFT JOIN __kanon_paths_${i} ON label = leaf
    WHERE path[depth] IS NOT DISTINCT FROM node)

-- name: values
-- The values of a sensitive column of all rows in their order, and how many rows have each, for
-- kanon_sql.anonymize_files(..., t=0.2, sensitive=['disease']).
SELECT * FROM (${domain}) ORDER BY place

-- name: counted
-- What privacy models look at of the values of a sensitive column, and how many rows have each, for
-- kanon_sql.anonymize_files(..., t=0.2, sensitive=['disease']).
(SELECT decode(encode(__kanon_key(${column}))) AS label, __kanon_value(${column}) AS sorted,
        (__kanon_cell(${column})).number AS number, ${size} AS size
 FROM ${rows})

-- name: values_of_persons
-- Whose each row is, and what models look at, for
-- kanon_sql.anonymize_files(..., t=0.2, sensitive=['disease'], entity='patient_id').
SELECT 0 AS combination, decode(encode(__kanon_key(${entity}))) AS entity,
       decode(encode(__kanon_key(${column}))) AS label, __kanon_value(${column}) AS sorted,
       (__kanon_cell(${column})).number AS number
FROM ${rows}

-- name: precisions
-- How fine the values of columns are, as it was learned of all rows, for kanon_sql.anonymize_files.
SELECT [${precisions}]::STRUCT(name VARCHAR, steps BIGINT)[] AS __kanon_precisions

-- name: ledger_stages
-- What is asked of a release beside a ledger, over which the ledger is read, for
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet'). A row has a number if it
-- takes part.
__kanon_source AS NOT MATERIALIZED (
    SELECT CASE WHEN ${kept} THEN 1 END::BIGINT AS __kanon_row, * FROM ${rows} AS __kanon
),
__kanon_columns AS (
    SELECT [*COLUMNS(*)] AS columns FROM (SELECT __kanon_describe(${quasi}) FROM ${one_keyed})
)

-- name: ledger_asked
-- What is asked of a release, as its ledger keeps it, for
-- kanon_sql.anonymize_files(..., entity='id', headroom=1).
WITH ${stages} ${asked}

-- name: ledger_cells
-- What the classes that go on published, as cells in text: for each column its number and its text,
-- for kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
SELECT class::VARCHAR AS class, ${cells} FROM ${classes} ORDER BY class
