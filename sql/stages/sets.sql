-- The sensitive values of each combination of quasi-identifiers: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
__kanon_sets AS MATERIALIZED (
    SELECT row_number() OVER () AS combination, __kanon_cells AS cells${numbered}
    FROM (SELECT list({${cells}}) AS __kanon_cells, ${of_part}${seen}
          FROM ${relation} AS __kanon${where} GROUP BY ALL)
),
