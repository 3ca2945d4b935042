-- The values of each class: a part of anonymize('t', k=5). Rows of a class stand together, since
-- DuckDB gathers lists of such rows in less than half the time; nothing depends on their order.
SELECT __kanon_class, ${values}
FROM (SELECT __kanon_class, ${columns} FROM ${stage} ORDER BY __kanon_class ASC)
GROUP BY __kanon_class
