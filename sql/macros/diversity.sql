-- How alike the rows of a class are: SELECT __kanon_alike(disease) FROM released GROUP BY ALL.
-- NULL is a value. A lambda, so that an aggregate stands once (see centroid.sql).
CREATE OR REPLACE TEMP MACRO __kanon_alike(x) AS list_transform(
    [{'low': min(encode(x::VARCHAR)), 'high': max(encode(x::VARCHAR)),
      'known': count(x), 'all': count(*)}],
    lambda __kanon_ends: __kanon_ends.low IS NOT DISTINCT FROM __kanon_ends.high
        AND __kanon_ends.known IN (0, __kanon_ends.all))[1];

CREATE OR REPLACE TEMP MACRO __kanon_majority(x) AS
    list_max(map_values(list_aggregate(list(coalesce('=' || x::VARCHAR, '')), 'histogram')));
