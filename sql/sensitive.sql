-- name: histogram_of_sets
-- How often each sensitive value is in each combination of quasi-identifiers: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
SELECT ${part}combination, cell.label_${i} AS label, min(cell.sorted_${i}) AS sorted,
           min(cell.number_${i}) AS number, count(*) AS size
    FROM (SELECT ${part}combination, unnest(cells) AS cell FROM __kanon_sets)
    GROUP BY ${part}combination, cell.label_${i}

-- name: values_of_sets
-- The same of the rows of any table: a part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], sensitive=['disease'], entity='patient_id').
SELECT combination, cell.whose AS entity, cell.label_${i} AS label,
                             cell.sorted_${i} AS sorted, cell.number_${i} AS number
                      FROM (SELECT combination, unnest(cells) AS cell FROM __kanon_sets)

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
    SELECT row_number() OVER () AS combination, __kanon_cells AS cells${numbered}
    FROM (SELECT list({${cells}}) AS __kanon_cells, ${of_part}${seen}
          FROM ${relation} AS __kanon${where} GROUP BY ALL)
),

-- name: found_sensitive
-- What the worst class has of one sensitive column: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
SELECT ${i} AS place, ${name}::VARCHAR AS sensitive,
           ${measured}, *
    FROM ${violating}

-- name: parts_of_sets
-- What an audit tells of parts beside sensitive columns: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease'], within=['day']).
count(DISTINCT part) AS parts,
       CASE WHEN ${k} IS NOT NULL
           THEN count(DISTINCT part) FILTER (WHERE __kanon_size < ${k}) END AS parts_below_k,
       (SELECT min(many)::BIGINT
        FROM (SELECT sum(__kanon_size) AS many FROM __kanon_sizes GROUP BY part)) AS part_rows_min,

-- name: violating
-- The classes that miss a demand on one sensitive column: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease'], l=3).
(SELECT count(*) FILTER (WHERE NOT kept) AS classes_violating,
            coalesce(sum(size) FILTER (WHERE NOT kept), 0)::BIGINT AS ${counted}_violating
     FROM (SELECT size, bool_and(coalesce(passes, false)) AS kept
           FROM (${models})
           GROUP BY combination, size))
