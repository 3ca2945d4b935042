-- name: one_empty_row
-- One row, of NULL, with the columns of a stage: what names and types are asked of, a part of
-- anonymize('t', k=5). Not LIMIT 1: DuckDB 2.0 hands rows of a stage that several read to a reader
-- with a LIMIT (or to EXISTS) as they come, and of many rows both may wait for each other forever.
(SELECT __kanon_none.*
    FROM (SELECT 1) LEFT JOIN (FROM ${stage} WHERE false) AS __kanon_none ON true)

-- name: classes
-- The values of each class: a part of anonymize('t', k=5). Rows of a class stand together, since
-- DuckDB gathers lists of such rows in less than half the time; nothing depends on their order.
SELECT __kanon_class, ${values}
FROM (SELECT __kanon_class, ${columns} FROM ${stage} ORDER BY __kanon_class ASC)
GROUP BY __kanon_class

-- name: with_columns
-- The rows of a relation whose columns only the query knows. Those that must be there are named
-- here alone, before anything else is looked up, so that DuckDB names one that is missing and the
-- nearest there is: a part of anonymize('my_cte', k=5, sensitive=['disease']).
(FROM ${relation} AS __kanon WHERE ${checks})

-- name: table_names
-- The column names of a relation beside the one that is anonymized: a part of
-- anonymize('t', k=5, hierarchies={'zip': 'levels'}).
(SELECT any_value(names)
    FROM (SELECT [*COLUMNS(*)] AS names
    FROM (SELECT __kanon_name(COLUMNS(*)) FROM ${one_row})))

-- name: table_rows
-- The rows of a relation beside the one that is anonymized, as text: a part of
-- anonymize('t', k=5, hierarchies={'zip': 'levels'}).
(SELECT list(cells)
    FROM (SELECT [*COLUMNS(*)] AS cells
    FROM (SELECT __kanon_key(COLUMNS(*)) FROM ${relation})))
