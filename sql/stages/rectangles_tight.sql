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
