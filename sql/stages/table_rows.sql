-- The rows of a relation beside the one that is anonymized, as text: a part of
-- anonymize('t', k=5, hierarchies={'zip': 'levels'}).
(SELECT list(cells)
    FROM (SELECT [*COLUMNS(*)] AS cells
    FROM (SELECT __kanon_key(COLUMNS(*)) FROM ${relation})))
