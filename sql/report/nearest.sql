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
