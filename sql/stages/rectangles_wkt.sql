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
