-- A stage in which the columns with a hierarchy hold something else: a part of
-- anonymize('t', k=5, hierarchies={'zip': 'prefix'}).
(SELECT * REPLACE (${columns}) FROM ${stage})
