-- Facts about a column, whatever its type: SELECT __kanon_describe(COLUMNS(*)) FROM patients.
CREATE OR REPLACE TEMP MACRO __kanon_has(x) AS typeof(x) IS NOT NULL;

CREATE OR REPLACE TEMP MACRO __kanon_blank(x) AS NULL;

CREATE OR REPLACE TEMP MACRO __kanon_name(x) AS alias(x);

CREATE OR REPLACE TEMP MACRO __kanon_describe(x) AS [alias(x), typeof(x)];

-- NaN is a missing value, as NULL is, and -0.0 is 0.0 (by JSON, which DuckDB casts to any type, and
-- in a list, since that has a type where an untyped NULL has none)
CREATE OR REPLACE TEMP MACRO __kanon_value(x) AS
    CASE WHEN typeof(x) IN ('FLOAT', 'DOUBLE') THEN
        CASE WHEN x::VARCHAR LIKE '%nan' THEN NULL
             WHEN x::VARCHAR = '-0.0' THEN cast_to_type(to_json([0.0]), [x])[1]
             ELSE x END
    ELSE x END;

-- one cell of the encoding: a number for what has an order, else a category
CREATE OR REPLACE TEMP MACRO __kanon_cell
    (x DOUBLE) AS {'number': CASE WHEN isnan(x) THEN NULL ELSE x END, 'category': NULL::VARCHAR},
    (x DATE) AS {
        'number': CASE WHEN isinf(x) THEN 'inf'::DOUBLE ELSE (x - DATE '1970-01-01')::DOUBLE END,
        'category': NULL::VARCHAR},
    (x TIMESTAMP) AS {
        'number': CASE WHEN isinf(x) THEN 'inf'::DOUBLE ELSE epoch_us(x)::DOUBLE END,
        'category': NULL::VARCHAR},
    (x TIMESTAMPTZ) AS {
        'number': CASE WHEN isinf(x) THEN 'inf'::DOUBLE ELSE epoch_us(x)::DOUBLE END,
        'category': NULL::VARCHAR},
    (x TIME) AS {'number': epoch_us(x)::DOUBLE, 'category': NULL::VARCHAR},
    -- of no use, and refused by its type: as a number, DuckDB's error would show a value
    (x VARIANT) AS {'number': NULL::DOUBLE, 'category': NULL::VARCHAR},
    (x) AS {'number': NULL::DOUBLE, 'category': x::VARCHAR};

-- a column that is withheld comes out as NULL, of its own type, however the call spells its
-- name; the hidden ones are given in lower case
CREATE OR REPLACE TEMP MACRO __kanon_shown(x, hidden) AS
    CASE WHEN list_contains(hidden, lower(alias(x))) THEN NULL ELSE x END;

-- what a column looks like, by its values (see kanon_sql/encode/looks.py); count(DISTINCT x) of many
-- columns would be as many joins
CREATE OR REPLACE TEMP MACRO __kanon_profile(x) AS {
    'name': min(alias(x)), 'type': min(typeof(x)), 'rows': count(*), 'values': count(x),
    'distinct': coalesce(list_unique(list(hash(x::VARCHAR)) FILTER (WHERE x IS NOT NULL)), 0),
    'low': min(TRY_CAST(x::VARCHAR AS HUGEINT)), 'high': max(TRY_CAST(x::VARCHAR AS HUGEINT))};

CREATE OR REPLACE TEMP MACRO __kanon_is_text(type) AS
    type IN ('VARCHAR', 'UUID', 'BLOB', 'JSON') OR starts_with(type, 'ENUM(');

CREATE OR REPLACE TEMP MACRO __kanon_is_integer(type) AS
    regexp_full_match(type, 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?');

CREATE OR REPLACE TEMP MACRO __kanon_looks_like_identifier(profile) AS
    profile.values >= 50 AND profile.distinct = profile.values AND (
        __kanon_is_text(profile.type)
        OR (__kanon_is_integer(profile.type)
            AND profile.high - profile.low = profile.values - 1));

CREATE OR REPLACE TEMP MACRO __kanon_hash_of(x) AS hash(x::VARCHAR);
