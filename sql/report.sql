-- name: points
-- A column of numbers, or of times as seconds, from its least to its greatest possible value, row by
-- row: for kanon_sql.report('patients.parquet', k=5).
SELECT ${low} AS low, ${high} AS high FROM ${relation}

-- name: labels
-- A column of anything as text, row by row, as the release of 'interval' writes it: for
-- kanon_sql.report('patients.parquet', k=5).
SELECT ${text} AS label FROM ${relation}

-- name: classes
-- How many classes of each size a table has, for kanon_sql.report('patients.parquet', k=5).
SELECT size, count(*) AS classes
FROM (SELECT count(*) AS size, ${seen} FROM ${relation} GROUP BY ALL)
GROUP BY size ORDER BY size ASC

-- name: most_rows
-- The most rows that are one person's, for kanon_sql.report('visits.parquet', k=5, entity='patient').
SELECT coalesce(max(rows), 1)
FROM (SELECT count(*) AS rows FROM ${relation} GROUP BY __kanon_seen(${column}))

-- name: sensitive
-- What the classes of a release say of a sensitive column: its values in a class (a missing one is a
-- value) and the rows of the most frequent one, with how many classes there are of each kind; for
-- kanon_sql.report('patients.parquet', k=5, sensitive=['disease']).
SELECT size, len(many) AS different, list_max(many) AS most, count(*) AS classes
FROM (SELECT len(shown) AS size, map_values(list_aggregate(shown, 'histogram')) AS many
      FROM (SELECT list(coalesce('=' || decode(encode(${column}::VARCHAR)), '')) AS shown, ${seen}
            FROM ${relation} GROUP BY ALL))
GROUP BY size, different, most ORDER BY size ASC, different ASC, most ASC

-- name: nearest
-- Some released rows, no two alike, and the row of the source that is most like each, for
-- kanon_sql.report('patients.parquet', k=5, show_values=True). How far two values are from each other
-- is 0 .. 1, and of two rows their mean; of source rows as near as each other the first as text.
WITH shown AS (
    SELECT * FROM (SELECT *, row_number() OVER () AS __kanon_place FROM ${release})
    QUALIFY row_number() OVER (PARTITION BY ${shown} ORDER BY __kanon_place ASC) = 1
    ORDER BY __kanon_place ASC LIMIT ${rows}
),
measured AS (
    SELECT shown.__kanon_place AS place, [${released}]::VARCHAR[] AS released,
           [${known}]::VARCHAR[] AS known, round((${distance}) / ${columns}, 9) AS distance
    FROM shown CROSS JOIN ${source} AS source
),
nearest AS (
    SELECT place, min(distance) AS distance FROM measured GROUP BY place
)
SELECT any_value(released) AS released, min(known) AS known, distance, count(*) AS as_near
FROM measured JOIN nearest USING (place, distance)
GROUP BY place, distance ORDER BY place ASC

-- name: apart
-- How far two texts are from each other, for kanon_sql.report('patients.parquet', show_values=True).
(encode(shown.${column}::VARCHAR) IS DISTINCT FROM encode(source.${column}::VARCHAR))::INTEGER

-- name: far
-- How far two numbers are from each other, for kanon_sql.report('patients.parquet', show_values=True).
coalesce(least(abs(${one} - ${other}) / ${spread}, 1.0), 1.0)

-- name: columns
-- The columns of a table that a report looks at, for kanon_sql.report('patients.parquet', k=5).
SELECT ${columns} FROM ${relation}

-- name: query
-- A query of the user, and nothing that changes anything, for
-- kanon_sql.report('patients.parquet', k=5, queries={'mean age': 'SELECT avg(age) FROM {table}'}).
SELECT * FROM (
${query}
)
