-- How often each sensitive value is in each combination of quasi-identifiers: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
SELECT ${part}combination, cell.label_${i} AS label, min(cell.sorted_${i}) AS sorted,
           min(cell.number_${i}) AS number, count(*) AS size
    FROM (SELECT ${part}combination, unnest(cells) AS cell FROM __kanon_sets)
    GROUP BY ${part}combination, cell.label_${i}
