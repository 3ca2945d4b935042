-- The representation 'suppress': SELECT __kanon_suppress(COLUMNS(*)) FROM patients GROUP BY job.
-- encode(x) is x without its collation; NULL is a value, so a class agrees on it or doesn't.
CREATE OR REPLACE TEMP MACRO __kanon_agreed(x, other) AS
    CASE WHEN count(x) = count(*) AND min(x) = max(x) THEN min(x)
         WHEN count(x) = 0 THEN NULL ELSE other END;

CREATE OR REPLACE TEMP MACRO __kanon_suppress
    (x VARCHAR) AS decode(__kanon_agreed(encode(x), encode('*'))),
    (x) AS __kanon_agreed(__kanon_value(x), NULL);
