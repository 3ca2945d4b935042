-- name: two_digits
-- A number of two significant digits that is no less: SELECT __kanon_two_digits(radius) FROM t.
-- By its text, which names the digits: what they say as a number is the nearest double, and that is
-- no less where the digits are no less. 0.0 and NULL stay.
CREATE OR REPLACE TEMP MACRO __kanon_next_digits(x) AS
    ((replace(split_part(x, 'e', 1), '.', '')::INTEGER + 1)::VARCHAR
        || 'e' || (split_part(x, 'e', 2)::INTEGER - 1)::VARCHAR)::DOUBLE;

CREATE OR REPLACE TEMP MACRO __kanon_two_digits(x) AS
    CASE WHEN format('{:.1e}', x)::DOUBLE >= x THEN format('{:.1e}', x)::DOUBLE
         ELSE __kanon_next_digits(format('{:.1e}', x)) END;

-- name: text
-- A value as DuckDB writes it where the setting TimeZone is UTC: what digests are made of.
-- SELECT __kanon_text(COLUMNS(*)) FROM released.
CREATE OR REPLACE TEMP MACRO __kanon_text
    (x TIMESTAMPTZ) AS CASE WHEN isinf(x) THEN x::VARCHAR
                            ELSE make_timestamp(epoch_us(x))::VARCHAR || '+00' END,
    (x TIMESTAMP) AS x::VARCHAR,
    (x TIMESTAMP_S) AS x::VARCHAR,
    (x TIMESTAMP_MS) AS x::VARCHAR,
    (x TIMESTAMP_NS) AS x::VARCHAR,
    (x DATE) AS x::VARCHAR,
    (x VARCHAR) AS decode(encode(x)),
    (x) AS x::VARCHAR;

-- A row as a text from which hashes are made. What its times with a time zone are written as depends on
-- the setting TimeZone, so such a row is written as the key by which DuckDB sorts it.
CREATE OR REPLACE TEMP MACRO __kanon_row_text(x) AS
    CASE WHEN contains(typeof(x), 'WITH TIME ZONE')
         THEN create_sort_key(x, 'ASC NULLS FIRST')::VARCHAR ELSE x::VARCHAR END;

-- a type without the values that an ENUM may have, which a release need not have: it is a text
CREATE OR REPLACE TEMP MACRO __kanon_type(x) AS
    regexp_replace(typeof(x), 'ENUM\(''([^'']|'''')*''(, ''([^'']|'''')*'')*\)', 'VARCHAR', 'g');

-- name: starred
-- A value as it comes out of a part that was put together with others, and of any other:
-- SELECT __kanon_starred(day, true) FROM visits. A text of whatever kind is VARCHAR, since '*' is no
-- JSON and no value of an ENUM; without its collation, as encode has it.
CREATE OR REPLACE TEMP MACRO __kanon_starred
    (x VARCHAR, joined) AS CASE WHEN joined THEN '*' ELSE x::VARCHAR END,
    (x, joined) AS CASE WHEN joined THEN NULL ELSE x END;

CREATE OR REPLACE TEMP MACRO __kanon_is_starred
    (x VARCHAR) AS coalesce(encode(x::VARCHAR) = encode('*'), false),
    (x) AS x IS NULL;
