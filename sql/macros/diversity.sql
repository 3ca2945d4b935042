-- How alike the rows of a class are: SELECT __kanon_alike(disease) FROM released GROUP BY ALL.
-- NULL is a value.
CREATE OR REPLACE TEMP MACRO __kanon_alike(x) AS
    min(encode(x::VARCHAR)) IS NOT DISTINCT FROM max(encode(x::VARCHAR)) AND count(x) IN (0, count(*));

CREATE OR REPLACE TEMP MACRO __kanon_majority(x) AS
    list_max(map_values(histogram(coalesce('=' || x::VARCHAR, ''))));
