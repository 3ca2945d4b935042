-- A value as it comes out of a part that was put together with others, and of any other:
-- SELECT __kanon_starred(day, true) FROM visits. A text of whatever kind is VARCHAR, since '*' is no
-- JSON and no value of an ENUM; without its collation, as encode has it.
CREATE OR REPLACE TEMP MACRO __kanon_starred
    (x VARCHAR, joined) AS CASE WHEN joined THEN '*' ELSE x::VARCHAR END,
    (x, joined) AS CASE WHEN joined THEN NULL ELSE x END;

CREATE OR REPLACE TEMP MACRO __kanon_is_starred
    (x VARCHAR) AS coalesce(encode(x::VARCHAR) = encode('*'), false),
    (x) AS x IS NULL;
