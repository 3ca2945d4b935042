-- The rows of a relation whose columns only the query knows. Those that must be there are named
-- here alone, before anything else is looked up, so that DuckDB names one that is missing and the
-- nearest there is: a part of anonymize('my_cte', k=5, sensitive=['disease']).
(FROM ${relation} AS __kanon WHERE ${checks})
