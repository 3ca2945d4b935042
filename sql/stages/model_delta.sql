-- Every value of all rows in each combination, the logarithm of its share over that among all rows
-- between -delta and delta: a part of anonymize('t', k=5, delta=1.5, sensitive=['disease']).
SELECT combination, size,
           found = different AND fits AS passes,
           CASE WHEN found = different THEN farthest ELSE 'inf'::DOUBLE END AS has
    FROM (SELECT ${part}combination, size, count(*) AS found,
                 max(abs(system.main.ln(own / overall))) AS farthest,
                 bool_and(system.main.exp(-${delta}::DOUBLE) * overall * (1 + 1e-12::DOUBLE) <= own
                          AND own <= system.main.exp(${delta}::DOUBLE) * overall * (1 - 1e-12::DOUBLE)) AS fits
          FROM (${shares})
          GROUP BY ${part}combination, size)
    ${join} (SELECT ${part}count(*) AS different FROM __kanon_domain_${i}${grouped})${using}
