-- What an audit tells of parts beside sensitive columns: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease'], within=['day']).
count(DISTINCT part) AS parts,
       CASE WHEN ${k} IS NOT NULL
           THEN count(DISTINCT part) FILTER (WHERE __kanon_size < ${k}) END AS parts_below_k,
       (SELECT min(many)::BIGINT
        FROM (SELECT sum(__kanon_size) AS many FROM __kanon_sizes GROUP BY part)) AS part_rows_min,
