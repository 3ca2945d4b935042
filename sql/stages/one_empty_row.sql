-- One row, of NULL, with the columns of a stage: what names and types are asked of, a part of
-- anonymize('t', k=5). Not LIMIT 1: DuckDB 2.0 hands rows of a stage that several read to a reader
-- with a LIMIT (or to EXISTS) as they come, and of many rows both may wait for each other forever.
(SELECT __kanon_none.*
    FROM (SELECT 1) LEFT JOIN (FROM ${stage} WHERE false) AS __kanon_none ON true)
