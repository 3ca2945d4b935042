-- No value with a share of a combination that is above its share among all rows by more than beta
-- times that: a part of anonymize('t', k=5, beta=2, sensitive=['disease']).
SELECT combination, size, bool_and(${fits}) AS passes,
           max((rows_of::HUGEINT * whole - rows_of_all::HUGEINT * size)::DOUBLE
               / (rows_of_all::HUGEINT * size)::DOUBLE) AS has
    FROM (${shares})
    GROUP BY combination, size
