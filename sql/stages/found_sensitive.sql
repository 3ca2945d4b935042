-- What the worst class has of one sensitive column: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
SELECT ${i} AS place, ${name}::VARCHAR AS sensitive,
           (SELECT ${l_distinct})::BIGINT AS l_distinct, (SELECT ${l_entropy}) AS l_entropy,
           (SELECT ${c}) AS c, (SELECT ${t}) AS t, (SELECT ${alpha}) AS alpha,
           (SELECT ${delta}) AS delta, (SELECT ${beta}) AS beta, *
    FROM ${violating}
