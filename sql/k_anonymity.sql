-- name: call
-- The audit of any table, as a whole, by part, by person, or one row for each sensitive column:
-- FROM k_anonymity('release', quasi_identifiers=['age', 'zip'], k=5).
WITH ${unshadowed},
${stages}
SELECT ${first}${figures}${others}
FROM ${source}
WHERE __kanon_unshadowed.passed AND CASE
${refusals}        ELSE true END${last}

-- name: figures
-- What is told of the sizes of classes: a part of k_anonymity('release', k=5).
min(__kanon_size) AS k,
       coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
       count(__kanon_size) AS classes,
       avg(__kanon_size) AS class_size_mean,
       max(__kanon_size) AS class_size_max,
       count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
       ${k}::BIGINT AS k_requested,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE __kanon_size < ${k}) END AS classes_below_k,
       CASE WHEN ${k} IS NOT NULL
           THEN coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0)::BIGINT
           END AS rows_below_k,
       1.0::DOUBLE / min(__kanon_size) AS prosecutor_risk_max,
       count(*)::DOUBLE / sum(__kanon_size) AS prosecutor_risk_mean

-- name: sizes
-- The rows of each combination: a part of k_anonymity('release', k=5).
__kanon_sizes AS (
    SELECT count(*) AS __kanon_size, ${seen} FROM ${relation} AS __kanon${where} GROUP BY ALL
)

-- name: sizes_of_parts
-- The rows of each combination, one of all columns, those of within among them: a part of
-- k_anonymity('out/**/*.parquet', within=['day'], k=5).
__kanon_sizes AS MATERIALIZED (
    SELECT count(*) AS __kanon_size, ${values}row(${keys}) AS __kanon_part, ${seen}
    FROM ${relation} AS __kanon${where} GROUP BY ALL
)

-- name: parts
-- The rows of each part: a part of k_anonymity('out/**/*.parquet', within=['day'], k=5).
__kanon_parts AS (
    SELECT sum(__kanon_size) AS "rows", min(__kanon_size) AS smallest
    FROM __kanon_sizes GROUP BY ${part}
)

-- name: told_of_parts
-- What is told of parts: a part of k_anonymity('out/**/*.parquet', within=['day'], k=5).
(SELECT count(*) FROM __kanon_parts) AS parts,
       CASE WHEN ${k} IS NOT NULL
           THEN (SELECT count(*) FROM __kanon_parts WHERE smallest < ${k}) END AS parts_below_k,
       (SELECT min("rows")::BIGINT FROM __kanon_parts) AS part_rows_min

-- name: whose
-- Whose the rows of each combination are; encoded: without collation. A part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], entity='patient_id').
__kanon_sets AS (
    SELECT row_number() OVER () AS combination, whose
    FROM (SELECT list(decode(encode(__kanon_key(${entity})))) AS whose, ${seen}
          FROM ${relation} AS __kanon${where} GROUP BY ALL)
)

-- name: found
-- What the worst class has, of each sensitive column: a part of
-- k_anonymity('release', sensitive=['disease'], l=3).
__kanon_found AS (
    ${found}
)

-- name: sizes_of_sets
-- The rows of each combination, of their sensitive values: a part of
-- k_anonymity('release', sensitive=['disease'], l=3).
__kanon_sizes AS (
    SELECT ${part}len(__kanon_values_0) AS __kanon_size FROM __kanon_sets
)

-- name: histogram_of_sets
-- How often each sensitive value is in each combination of quasi-identifiers; encoded: without
-- collation. A part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
SELECT ${part}combination, decode(encode(__kanon_key(own))) AS label, count(*) AS size
    FROM (SELECT ${part}combination, unnest(__kanon_values_${i}) AS own FROM __kanon_sets)
    GROUP BY ${part}combination, decode(encode(__kanon_key(own)))

-- name: values_of_sets
-- What privacy models look at, of each value: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
SELECT ${part}decode(encode(__kanon_key(own))) AS label, __kanon_value(own) AS sorted,
          (__kanon_cell(own)).number AS number, 1 AS size
    FROM (SELECT ${part}unnest(__kanon_values_${i}) AS own FROM __kanon_sets)

-- name: values_of_persons
-- The same of the rows of any table: a part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], sensitive=['disease'], entity='patient_id').
SELECT combination, cell.whose AS entity, cell.label_${i} AS label,
                             cell.sorted_${i} AS sorted, cell.number_${i} AS number
                      FROM (SELECT combination, unnest(cells) AS cell FROM __kanon_sets)

-- name: set_values
-- The values of one sensitive column in a combination: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
list(${column}) AS __kanon_values_${i}

-- name: set_cells
-- The same of all sensitive columns, with whose each row is: a part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], sensitive=['disease'], entity='patient_id').
list({${cells}}) AS cells

-- name: set_whose
-- Whose a row is; encoded: without collation. A part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], sensitive=['disease'], entity='patient_id').
'whose': decode(encode(__kanon_key(${entity})))

-- name: set_cell
-- What privacy models look at, of one value; encoded: without collation. A part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
'label_${i}': decode(encode(__kanon_key(${column}))), 'sorted_${i}': __kanon_value(${column}), 'number_${i}': (__kanon_cell(${column})).number

-- name: sets
-- The sensitive values of each combination of quasi-identifiers: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
__kanon_sets AS MATERIALIZED (
    SELECT row_number() OVER () AS combination, ${kept}${numbered}
    FROM (SELECT ${cells}, ${of_part}${seen}
          FROM ${relation} AS __kanon${where} GROUP BY ALL)
)

-- name: found_of_column
-- What the worst class has of one sensitive column: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
SELECT ${i} AS place, ${name}::VARCHAR AS sensitive,
           ${measured}, *
    FROM ${violating}

-- name: violating
-- The classes that miss a demand on one sensitive column: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease'], l=3).
(SELECT count(*) FILTER (WHERE NOT kept) AS classes_violating,
            coalesce(sum(size) FILTER (WHERE NOT kept), 0)::BIGINT AS ${counted}_violating
     FROM (SELECT size, bool_and(coalesce(passes, false)) AS kept
           FROM (${models})
           GROUP BY combination, size))

-- name: nobody
-- Refuses rows that say of no person whose they are: a part of
-- k_anonymity('visits', entity='patient_id').
WHEN nobody > 0
            THEN __kanon_refuse('DataError', ${said})
