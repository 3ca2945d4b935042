-- The column names of a relation beside the one that is anonymized: a part of
-- anonymize('t', k=5, hierarchies={'zip': 'levels'}).
(SELECT any_value(names)
    FROM (SELECT [*COLUMNS(*)] AS names
    FROM (SELECT __kanon_name(COLUMNS(*)) FROM ${one_row})))
