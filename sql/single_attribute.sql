-- name: class_numbers
-- What a class releases is its number: a part of anonymize('t', k=5, method='fold',
-- representation='number', quasi_identifiers=['zip']).
SELECT DISTINCT __kanon_class, ${numbers} FROM __kanon_labelled

-- name: rectangles_bounds
-- One side of a rectangle as two numbers, NULL where the class has no place: a part of
-- anonymize('t', k=5, method='gps_rectangles', representation='bounds',
--           quasi_identifiers=['lat', 'lon']).
CASE WHEN __kanon_low_${i} IS NOT NULL
    THEN {'min': __kanon_low_${i}, 'max': __kanon_high_${i}} END

-- name: rectangles_interval
-- One side of a rectangle as a text, NULL where the class has no place: a part of
-- anonymize('t', k=5, method='gps_rectangles', quasi_identifiers=['lat', 'lon']).
CASE WHEN __kanon_low_${i} = __kanon_high_${i} THEN __kanon_low_${i}::VARCHAR
    WHEN __kanon_low_${i} IS NOT NULL
    THEN concat('[', __kanon_low_${i}, ', ', __kanon_high_${i},
        CASE WHEN __kanon_closed_${i} THEN ']' ELSE ')' END)
END

-- name: rectangles_wkt
-- A rectangle as a polygon in well-known text, x first: a part of
-- anonymize('t', k=5, method='gps_rectangles', quasi_identifiers=['lat', 'lon'], wkt=true).
CASE WHEN __kanon_low_1 IS NOT NULL
    THEN concat('POLYGON((',
        __kanon_low_${x}, ' ', __kanon_low_${y}, ', ',
        __kanon_high_${x}, ' ', __kanon_low_${y}, ', ',
        __kanon_high_${x}, ' ', __kanon_high_${y}, ', ',
        __kanon_low_${x}, ' ', __kanon_high_${y}, ', ',
        __kanon_low_${x}, ' ', __kanon_low_${y},
        '))')
END

-- name: rectangles_tight
-- The boxes of the classes of gps_rectangles, around their own places: a part of
-- anonymize('t', k=5, method='gps_rectangles', quasi_identifiers=['lat', 'lon'], tight=true).
SELECT __kanon_class,
    min(__kanon_value(${column_1}))::DOUBLE AS __kanon_low_1,
    max(__kanon_value(${column_1}))::DOUBLE AS __kanon_high_1,
    true AS __kanon_closed_1,
    min(__kanon_value(${column_2}))::DOUBLE AS __kanon_low_2,
    max(__kanon_value(${column_2}))::DOUBLE AS __kanon_high_2,
    true AS __kanon_closed_2
FROM __kanon_labelled
GROUP BY __kanon_class

-- name: rectangles_cells
-- The boxes of the classes of gps_rectangles, their k-d cells: a part of
-- anonymize('t', k=5, method='gps_rectangles', quasi_identifiers=['lat', 'lon']).
SELECT cell.class AS __kanon_class,
    any_value(cell.low) FILTER (WHERE __kanon_caseless(columns[cell.number][1]) = __kanon_caseless(${name_1}))
        AS __kanon_low_1,
    any_value(cell.high) FILTER (WHERE __kanon_caseless(columns[cell.number][1]) = __kanon_caseless(${name_1}))
        AS __kanon_high_1,
    any_value(cell.closed) FILTER (WHERE __kanon_caseless(columns[cell.number][1]) = __kanon_caseless(${name_1}))
        AS __kanon_closed_1,
    any_value(cell.low) FILTER (WHERE __kanon_caseless(columns[cell.number][1]) = __kanon_caseless(${name_2}))
        AS __kanon_low_2,
    any_value(cell.high) FILTER (WHERE __kanon_caseless(columns[cell.number][1]) = __kanon_caseless(${name_2}))
        AS __kanon_high_2,
    any_value(cell.closed) FILTER (WHERE __kanon_caseless(columns[cell.number][1]) = __kanon_caseless(${name_2}))
        AS __kanon_closed_2
FROM (SELECT unnest(grouped.cells) AS cell FROM __kanon_grouped) CROSS JOIN __kanon_columns
GROUP BY cell.class

-- name: rectangles
-- What the classes of gps_rectangles release: a part of
-- anonymize('t', k=5, method='gps_rectangles', quasi_identifiers=['lat', 'lon']).
-- The boxes have low, high and closed of each column; the columns are numbers 1 and 2.
SELECT __kanon_class,
           ${side_1} AS ${column_1},
           ${side_2} AS ${column_2}${wkt}
    FROM (${plain}) AS _plain
    JOIN (${boxes}) AS _boxes USING (__kanon_class)
