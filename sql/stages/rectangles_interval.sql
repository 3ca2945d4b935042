-- One side of a rectangle as a text, NULL where the class has no place: a part of
-- anonymize('t', k=5, method='gps_rectangles', quasi_identifiers=['lat', 'lon']).
CASE WHEN __kanon_low_${i} = __kanon_high_${i} THEN __kanon_low_${i}::VARCHAR
    WHEN __kanon_low_${i} IS NOT NULL
    THEN concat('[', __kanon_low_${i}, ', ', __kanon_high_${i},
        CASE WHEN __kanon_closed_${i} THEN ']' ELSE ')' END)
END
