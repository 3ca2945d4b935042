-- The same of the rows of any table: a part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], sensitive=['disease'], entity='patient_id').
SELECT combination, cell.whose AS entity, cell.label_${i} AS label,
                             cell.sorted_${i} AS sorted, cell.number_${i} AS number
                      FROM (SELECT combination, unnest(cells) AS cell FROM __kanon_sets)
