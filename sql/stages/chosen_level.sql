-- The level that full_domain chose for a column: a part of
-- anonymize('t', k=5, recoding='global', hierarchies={'zip': 'prefix'}).
(SELECT (grouped.facts ->> ${fact})::DOUBLE::BIGINT FROM __kanon_grouped)
