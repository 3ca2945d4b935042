-- What the classes of gps_rectangles release: a part of
-- anonymize('t', k=5, method='gps_rectangles', quasi_identifiers=['lat', 'lon']).
SELECT ${columns}
    FROM (${plain}) AS _plain
    JOIN (${boxes}) AS _boxes USING (__kanon_class)
