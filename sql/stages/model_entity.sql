-- Nobody with more than one k-th of the rows of a combination: a part of
-- anonymize('t', k=5, entity='patient_id', entity_rows='apart').
SELECT combination, size, max(rows_of) * ${k}::HUGEINT <= size AS passes,
           max(rows_of)::DOUBLE / size AS has
    FROM (SELECT combination, size AS rows_of FROM __kanon_histogram_${i})
    JOIN __kanon_spread_${i} USING (combination)
    GROUP BY combination, size
