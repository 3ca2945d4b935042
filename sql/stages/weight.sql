-- The weight of a row, or a refusal: a part of anonymize('t', k=5, weight='w').
CASE WHEN __kanon_weighs(${weight}) THEN __kanon_weight(${weight})
    ELSE __kanon_refuse('DataError', ${said}) END::DOUBLE
