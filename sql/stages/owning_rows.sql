-- Every class publishes the row that the method chose: a part of
-- anonymize('t', k=5, method='r_gather', centers='rows').
(SELECT list(__kanon_class) FROM __kanon_chosen)
