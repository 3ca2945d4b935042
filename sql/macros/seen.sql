-- A value as a reader of a release sees it, in two keys:
-- SELECT count(*) FROM (SELECT __kanon_seen(COLUMNS(*)), __kanon_printed(COLUMNS(*)) FROM released GROUP BY ALL).
-- Values that compare as equal may look different: 0.0 and -0.0, 1 month and 30 days, also inside of
-- lists and structs, and texts of a collation. The first key is the value, of text its bytes; the
-- second tells apart what the first doesn't, and is NULL for the types of which nothing of the kind
-- is known: to write a million values as text takes longer than to count them. A number's is its
-- sign, which only 0.0 and NaN leave open.
CREATE OR REPLACE TEMP MACRO __kanon_seen
    (x VARCHAR) AS encode(x),
    (x) AS x;

CREATE OR REPLACE TEMP MACRO __kanon_printed
    (x DOUBLE) AS signbit(x),
    (x VARCHAR) AS NULL::BOOLEAN,
    (x BOOLEAN) AS NULL::BOOLEAN,
    (x DATE) AS NULL::BOOLEAN,
    (x TIME) AS NULL::BOOLEAN,
    (x TIMESTAMP) AS NULL::BOOLEAN,
    (x TIMESTAMPTZ) AS NULL::BOOLEAN,
    (x UUID) AS NULL::BOOLEAN,
    (x BLOB) AS NULL::BOOLEAN,
    (x) AS encode(x::VARCHAR);
