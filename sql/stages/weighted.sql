-- The least sum of weights of a class, if all are weights: a part of
-- anonymize_metrics('t', k=5, weight='w').
CASE WHEN coalesce(bool_and(__kanon_weighed), true) THEN min(__kanon_people)
    ELSE __kanon_refuse('DataError', ${said}) END
