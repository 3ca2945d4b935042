-- The representation 'suppress': SELECT __kanon_suppress(COLUMNS(*)) FROM patients GROUP BY job.
-- encode(x) is x without its collation; NULL is a value, so a class agrees on it or doesn't.
-- A lambda, so that an aggregate stands once (see centroid.sql).
CREATE OR REPLACE TEMP MACRO __kanon_agreed(x, other) AS list_transform(
    [{'low': min(x), 'high': max(x), 'known': count(x), 'all': count(*)}],
    lambda __kanon_ends: CASE
        WHEN __kanon_ends.known = __kanon_ends.all AND __kanon_ends.low = __kanon_ends.high
            THEN __kanon_ends.low
        WHEN __kanon_ends.known = 0 THEN NULL ELSE other END)[1];

CREATE OR REPLACE TEMP MACRO __kanon_suppress
    (x VARCHAR) AS decode(__kanon_agreed(encode(x), encode('*'))),
    (x) AS __kanon_agreed(x, NULL);
