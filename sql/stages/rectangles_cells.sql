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
