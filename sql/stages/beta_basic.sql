-- Whether a value gains no more than beta, in whole rows: a part of
-- anonymize('t', k=5, beta=2, beta_kind='basic', sensitive=['disease']).
rows_of::HUGEINT * whole * ${under} <= ${over} * rows_of_all * size
