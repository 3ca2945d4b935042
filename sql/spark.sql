-- name: cells
-- What Spark doesn't work out itself of a batch of rows, for kanon_sql.spark.anonymize(df, k=5,
-- quasi_identifiers=['age', 'zip']).
SELECT ${cells} FROM ${rows} AS __kanon

-- name: hash
-- A hash of some columns, for kanon_sql.spark.anonymize(df, k=5, quasi_identifiers=['age', 'zip']).
(hash(row(${columns})) >> 1)::BIGINT AS ${name}

-- name: part_key
-- A text by which the part of a row is told from others, of one column of within, for
-- kanon_sql.spark.anonymize(df, k=5, within=['day']).
coalesce(hex(encode(${column}::VARCHAR)) || '.' || hash(${column})::VARCHAR, '-')

-- name: parts
-- The numbers of the parts that Spark counted, and whether each is put together with others, for
-- kanon_sql.spark.anonymize(df, k=5, within=['day']).
SELECT ${key}, number, joined FROM ${rows} AS __kanon_taking JOIN __kanon_parts ON ${same}
WHERE number >= 0

-- name: rows
-- The rows of a block, with the columns of within as they come out, for kanon_sql.spark.anonymize.
(SELECT *${without}${replaced} FROM (SELECT ${columns}${joined} FROM ${rows}) AS __kanon_taking)

-- name: none_joined
-- Rows of no part that is put together with others, for kanon_sql.spark.anonymize(df, k=5,
-- within=['day'], small_parts='join').
(SELECT *, false AS ${joined} FROM ${rows})

-- name: places
-- How many combinations of released values a partition has, for
-- kanon_sql.spark.anonymize(df, k=5, class_id=True).
SELECT count(*)::BIGINT AS classes FROM (SELECT DISTINCT ${columns} FROM ${rows})

-- name: class_ids
-- The numbers of the classes of a partition, for kanon_sql.spark.anonymize(df, k=5, class_id=True).
SELECT *${class_id} FROM ${rows} ORDER BY ${order}

-- name: ordered
-- A sample of rows in an order of their own, for kanon_sql.spark.anonymize.
SELECT COLUMNS(*) FROM ${rows} ORDER BY ALL

-- name: histogram
-- How often each sensitive value is in each combination, of what Spark counted, for
-- kanon_sql.spark.anonymize.
SELECT ${part}__kanon_combination AS combination, decode(encode(__kanon_key(__kanon_secret))) AS label,
           min(__kanon_value(__kanon_secret)) AS sorted,
           min((__kanon_cell(__kanon_secret)).number) AS number, sum(__kanon_size)::BIGINT AS size
    FROM __kanon_counted GROUP BY ${part}__kanon_combination, decode(encode(__kanon_key(__kanon_secret)))

-- name: models
-- How many combinations of released values don't keep each model, and what the worst of them has,
-- over the values that Spark counted, for kanon_sql.spark.anonymize.
WITH __kanon_counted AS MATERIALIZED (
    SELECT dense_rank() OVER (ORDER BY ${counted}) AS __kanon_combination,
           ${column} AS __kanon_secret, __kanon_size${part}
    FROM ${rows}
),
__kanon_sizes AS MATERIALIZED (
    SELECT DISTINCT __kanon_combination AS combination FROM __kanon_counted
),
__kanon_kept AS NOT MATERIALIZED (SELECT __kanon_secret AS ${column} FROM __kanon_counted),
${trees}${stages}
__kanon_found AS (
    ${broken}
)
SELECT model::INTEGER AS model, has::DOUBLE AS has, broken::BIGINT AS broken FROM __kanon_found

-- name: nothing
-- One row of NULLs of some types, from which Arrow tells how it writes them, for
-- kanon_sql.spark.anonymize.
SELECT ${columns}

-- name: expanded
-- The values of a column, each as often as rows have it, for kanon_sql.spark.anonymize.
(SELECT ${column} FROM (SELECT ${column}, unnest(range(__kanon_size)) FROM ${rows}))

-- name: shown
-- The released rows of who was released before, as those of blocks are, for
-- kanon_sql.spark.release(df, k=5, entity='id', ledger=releases).
SELECT *, hash(row(${seed}, ${quasi})) AS __kanon_of_values, hash(row(${seed}, ${values})) AS __kanon_of_all
FROM (SELECT ${columns} FROM ${rows}) AS __kanon

-- name: whose
-- Rows, and the text by which the person of each is known in a ledger, for
-- kanon_sql.spark.release(df, k=5, entity='id', headroom=1).
SELECT *, __kanon_key(${whose}) AS ${person} FROM ${rows}

-- name: refused
-- What refuses a ledger or its persons, over what Spark counted and over rows that show what is wrong;
-- then the number of the release, and the least k so far, for
-- kanon_sql.spark.release(df, k=5, entity='id', ledger=releases).
WITH ${stages},
__kanon_ledger AS (
    SELECT *, (SELECT typeof(entity) FROM ${one_of_ledger}) AS type FROM kanon_ledger_rows
),
__kanon_owners AS (FROM kanon_ledger_owners),
__kanon_releases AS (FROM kanon_ledger_releases),
${numbered}
__kanon_frozen AS (FROM kanon_ledger_frozen),
${crowds},
${faults}
__kanon_accounted AS MATERIALIZED (SELECT CASE
${refusals}        ELSE true END AS passed)
SELECT release, (SELECT least FROM __kanon_stored)
FROM __kanon_numbered CROSS JOIN __kanon_accounted WHERE passed

-- name: histories
-- The different histories of a ledger, as Spark counted them, for
-- kanon_sql.spark.release(df, k=5, entity='id', ledger=releases).
__kanon_histories_${which} AS MATERIALIZED (
    SELECT row_number() OVER () AS history, persons,
           list_transform(string_split(history, ' '), lambda step: {
               'release': TRY_CAST(split_part(step, ':', 1) AS BIGINT),
               'class': TRY_CAST(split_part(step, ':', 2) AS BIGINT)
           }) AS steps
    FROM ${histories}
)

-- name: crowd_rows
-- The persons of a release, one row for each, from how many are alike, for
-- kanon_sql.spark.release(df, k=5, entity='id', ledger=releases, l=2).
(SELECT row_number() OVER () AS __kanon_whose, class AS __kanon_number, history, ${columns}
 FROM (SELECT *, unnest(range(__kanon_size)) FROM ${people}))

-- name: crowd_entries
-- What their ledger gets, for
-- kanon_sql.spark.release(df, k=5, entity='id', ledger=releases, l=2).
(SELECT ${release}::BIGINT AS release, __kanon_whose AS entity, __kanon_number AS class FROM ${rows})

-- name: crowds_before
-- What was linked before of them, for
-- kanon_sql.spark.release(df, k=5, entity='id', ledger=releases, l=2).
UNION ALL
    SELECT TRY_CAST(split_part(step, ':', 1) AS BIGINT), __kanon_key(__kanon_whose),
           TRY_CAST(split_part(step, ':', 2) AS BIGINT)
    FROM (SELECT __kanon_whose, unnest(string_split(history, ' ')) AS step FROM ${rows})

-- name: crowd_cells
-- What privacy models look at, for
-- kanon_sql.spark.release(df, k=5, entity='id', ledger=releases, l=2).
SELECT __kanon_number AS class, history, ${cells} FROM ${rows}

-- name: linked
-- The smallest crowds once the release is out, of all in the ledger and of those in this release, for
-- kanon_sql.spark.release(df, k=5, entity='id', ledger=releases).
WITH ${crowds}
SELECT min(${counted})::BIGINT, min(CASE WHEN last_release = ${release} THEN ${counted} END)::BIGINT
FROM __kanon_crowds_after
