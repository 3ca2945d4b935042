-- Whether it gains no more than beta, nor than -ln of its share among all rows: a part of
-- anonymize('t', k=5, beta=2, sensitive=['disease']).
CASE WHEN ${beta}::DOUBLE <= -system.main.ln(overall)
    THEN rows_of::HUGEINT * whole * ${under} <= ${over} * rows_of_all * size
    ELSE rows_of::HUGEINT * whole <= rows_of_all::HUGEINT * size
        OR rows_of <= size * overall * (1 - system.main.ln(overall)) * (1 - 1e-12::DOUBLE) END
