-- One side of a rectangle as two numbers, NULL where the class has no place: a part of
-- anonymize('t', k=5, method='gps_rectangles', representation='bounds',
--           quasi_identifiers=['lat', 'lon']).
CASE WHEN __kanon_low_${i} IS NOT NULL
    THEN {'min': __kanon_low_${i}, 'max': __kanon_high_${i}} END
