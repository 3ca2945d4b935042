-- No class publishes the row that the method chose: a part of
-- anonymize('t', k=5, method='r_gather', centers='means').
[]::BIGINT[]
