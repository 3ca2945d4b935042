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

-- a type without the values that an ENUM may have, which a release need not have: it is a text
CREATE OR REPLACE TEMP MACRO __kanon_type(x) AS
    regexp_replace(typeof(x), 'ENUM\(''([^'']|'''')*''(, ''([^'']|'''')*'')*\)', 'VARCHAR', 'g');
