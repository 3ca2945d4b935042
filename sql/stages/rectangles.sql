-- What the classes of gps_rectangles release: a part of
-- anonymize('t', k=5, method='gps_rectangles', quasi_identifiers=['lat', 'lon']).
-- The boxes have low, high and closed of each column; the columns are numbers 1 and 2.
SELECT __kanon_class,
           ${side_1} AS ${column_1},
           ${side_2} AS ${column_2}${wkt}
    FROM (${plain}) AS _plain
    JOIN (${boxes}) AS _boxes USING (__kanon_class)
