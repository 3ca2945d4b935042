-- name: columns
-- Facts about a column, whatever its type: SELECT __kanon_describe(COLUMNS(*)) FROM patients.
CREATE OR REPLACE TEMP MACRO __kanon_has(x) AS typeof(x) IS NOT NULL;

-- nothing, where only names and types are wanted. An ENUM becomes a text by it, since its type is the
-- list of all values that it may have, released or not; JSON, which is a text, too, stays JSON
CREATE OR REPLACE TEMP MACRO __kanon_blank
    (x VARCHAR) AS NULL::VARCHAR,
    (x) AS NULL;

-- the same without a type, beside lists: with old_implicit_casting a text would make texts of them
CREATE OR REPLACE TEMP MACRO __kanon_nothing(x) AS NULL;

CREATE OR REPLACE TEMP MACRO __kanon_plain(x) AS CASE WHEN false THEN __kanon_blank(x) ELSE x END;

-- what comes out, without what DuckDB knows of the column: its least and greatest value and how many
-- it has come from the source, also of rows that are left out, and stats(x) shows them. Of TRY nothing
-- is known, in every version; a value fails nowhere here, so it changes none
CREATE OR REPLACE TEMP MACRO __kanon_without_statistics(x) AS TRY(x);

CREATE OR REPLACE TEMP MACRO __kanon_name(x) AS alias(x);

-- a name as it is compared (see kanon_sql/names.py): lower() would fold letters that DuckDB doesn't
CREATE OR REPLACE TEMP MACRO __kanon_caseless(name) AS
    translate(name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

-- a text in lower case whose words stand between blanks; and whether there is a name in it
CREATE OR REPLACE TEMP MACRO __kanon_words(text) AS
    concat(' ', regexp_replace(__kanon_caseless(text), '\W+', ' ', 'g'), ' ');

CREATE OR REPLACE TEMP MACRO __kanon_has_name(text, name) AS
    contains(__kanon_words(text), __kanon_words(name));

CREATE OR REPLACE TEMP MACRO __kanon_describe(x) AS [alias(x), typeof(x)];

-- 0.0 in the type of x, by JSON, which DuckDB casts to any type, and in a list, since that has a type
-- where an untyped NULL has none
CREATE OR REPLACE TEMP MACRO __kanon_zero(x) AS cast_to_type(to_json([0.0]), [x])[1];

-- NaN is a missing value, as NULL is, and -0.0 is 0.0
CREATE OR REPLACE TEMP MACRO __kanon_value(x) AS
    CASE WHEN typeof(x) IN ('FLOAT', 'DOUBLE') THEN
        CASE WHEN x::VARCHAR LIKE '%nan' THEN NULL
             WHEN x::VARCHAR = '-0.0' THEN __kanon_zero(x)
             ELSE x END
    ELSE x END;

CREATE OR REPLACE TEMP MACRO __kanon_microseconds(x) AS list_transform([x], lambda __kanon_x:
    CASE WHEN isinf(__kanon_x) THEN 'inf'::DOUBLE ELSE epoch_us(__kanon_x)::DOUBLE END)[1];

-- one cell of the encoding: a number for what has an order, else a category, without a collation. The
-- column stands once, and a lambda names it, for the reason that is told in centroid.sql
CREATE OR REPLACE TEMP MACRO __kanon_cell
    (x DOUBLE) AS {
        'number': list_filter([x], lambda __kanon_x: NOT isnan(__kanon_x))[1],
        'category': NULL::VARCHAR},
    (x DATE) AS {
        'number': list_transform([x], lambda __kanon_x: CASE WHEN isinf(__kanon_x) THEN 'inf'::DOUBLE
            ELSE (__kanon_x - DATE '1970-01-01')::DOUBLE END)[1],
        'category': NULL::VARCHAR},
    (x TIMESTAMP) AS {'number': __kanon_microseconds(x), 'category': NULL::VARCHAR},
    (x TIMESTAMPTZ) AS {'number': __kanon_microseconds(x), 'category': NULL::VARCHAR},
    (x TIME) AS {'number': epoch_us(x)::DOUBLE, 'category': NULL::VARCHAR},
    -- of no use, and refused by its type: as a number, DuckDB's error would show a value
    (x VARIANT) AS {'number': NULL::DOUBLE, 'category': NULL::VARCHAR},
    (x) AS {'number': NULL::DOUBLE, 'category': decode(encode(x::VARCHAR))};

-- a column that is withheld comes out as NULL, of its own type, however the call spells its
-- name; the hidden ones are given in lower case. That there may be none is asked first, since DuckDB
-- looks for what columns have in common in the first condition alone, in quadratic time
CREATE OR REPLACE TEMP MACRO __kanon_shown(x, hidden) AS
    CASE WHEN len(hidden) = 0 THEN x WHEN list_contains(hidden, __kanon_caseless(alias(x))) THEN NULL ELSE x END;

-- the bytes of a text, which stand in its order without a collation; NULL of all else, also of an
-- ENUM, which has an order of its own
CREATE OR REPLACE TEMP MACRO __kanon_letters(x) AS
    CASE WHEN typeof(x) = 'VARCHAR' THEN encode(x::VARCHAR) ELSE NULL END;

-- the hash of a value as it is printed, which no collation changes
CREATE OR REPLACE TEMP MACRO __kanon_hash_of(x) AS hash(encode(x::VARCHAR));

-- the hashes of the values of a column, sorted; NULL has none
CREATE OR REPLACE TEMP MACRO __kanon_sorted_hashes(x) AS list_sort(
    list(CASE WHEN x IS NULL THEN NULL ELSE __kanon_hash_of(x) END), 'ASC', 'NULLS FIRST');

-- how many different ones there are among sorted hashes, and how many rows have one that `least` of
-- them have or more: where one and that of so many rows ahead are equal, so are all between them
CREATE OR REPLACE TEMP MACRO __kanon_different(hashes) AS coalesce(list_sum(list_transform(
    list_zip(list_concat([NULL], hashes), hashes), lambda pair:
        CASE WHEN pair[2] IS NOT NULL AND pair[1] IS DISTINCT FROM pair[2] THEN 1 ELSE 0 END)), 0);

CREATE OR REPLACE TEMP MACRO __kanon_common(hashes, least) AS coalesce(list_sum(list_transform(
    list_zip(list_concat([NULL], hashes), hashes, hashes[least:]), lambda three:
        CASE WHEN three[2] IS NULL OR three[3] IS NULL OR three[2] <> three[3] THEN 0
             WHEN three[1] IS DISTINCT FROM three[2] THEN least ELSE 1 END)), 0);

-- what a column looks like, by its values (see kanon_sql/encode/identifier_detection.py). count(DISTINCT x) of many
-- columns would be as many joins
CREATE OR REPLACE TEMP MACRO __kanon_profile(x, least) AS {
    'name': min(alias(x)), 'type': min(typeof(x)), 'rows': count(*), 'values': count(x),
    'distinct': __kanon_different(__kanon_sorted_hashes(x)),
    'common': __kanon_common(__kanon_sorted_hashes(x), least),
    'low': TRY_CAST(min(x)::VARCHAR AS HUGEINT), 'high': TRY_CAST(max(x)::VARCHAR AS HUGEINT)};

-- a column as anonymize_roles looks at it: the hashes of the values as they are printed, NULL among
-- them, in the same order of rows for all columns, and what they don't tell
CREATE OR REPLACE TEMP MACRO __kanon_counted(x) AS {
    'counts': {'name': any_value(alias(x)), 'rows': count(*), 'values': count(x),
               'low': TRY_CAST(min(x)::VARCHAR AS HUGEINT),
               'high': TRY_CAST(max(x)::VARCHAR AS HUGEINT),
               'null': hash(NULL::VARCHAR), 'form': __kanon_form(x)},
    'hashes': list(__kanon_hash_of(x))};

CREATE OR REPLACE TEMP MACRO __kanon_is_text(type) AS
    type IN ('VARCHAR', 'UUID', 'BLOB', 'JSON') OR starts_with(type, 'ENUM(');

CREATE OR REPLACE TEMP MACRO __kanon_is_integer(type) AS
    regexp_full_match(type, 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?');

CREATE OR REPLACE TEMP MACRO __kanon_looks_like_identifier(profile) AS
    profile.values >= 50 AND (
        (__kanon_is_text(profile.type) AND 2 * profile.common < profile.values)
        OR (__kanon_is_integer(profile.type) AND profile.distinct = profile.values
            AND CASE WHEN profile.high::DOUBLE - profile.low::DOUBLE > 1e15 THEN false
                     ELSE 4 * (profile.high - profile.low) < 5 * profile.values END));

-- what a person has in a column, and of all persons together how far a column tells them apart. Two
-- hashes are enough: a person whose rows agree has the same one twice
CREATE OR REPLACE TEMP MACRO __kanon_of_person(x) AS {
    'name': min(alias(x)), 'type': min(typeof(x)), 'values': count(x),
    'low': min(CASE WHEN x IS NULL THEN NULL ELSE __kanon_hash_of(x) END),
    'high': max(CASE WHEN x IS NULL THEN NULL ELSE __kanon_hash_of(x) END)};

CREATE OR REPLACE TEMP MACRO __kanon_of_persons(x, least) AS {
    'name': min(x.name), 'type': min(x.type), 'persons': count(x.low),
    'distinct': __kanon_different(list_sort(list(x.low), 'ASC', 'NULLS FIRST')),
    'common': __kanon_common(list_sort(list(x.low), 'ASC', 'NULLS FIRST'), least),
    'agree': coalesce(bool_and(x.low = x.high), false),
    'several': coalesce(sum(CASE WHEN x.values > 1 THEN 1 ELSE 0 END), 0)};

-- the same in all rows of a person, and in no two (or hardly any two) persons: a key by another name
CREATE OR REPLACE TEMP MACRO __kanon_like_entity(persons, share) AS
    persons.persons >= 50 AND persons.agree AND persons.distinct >= share * persons.persons;

-- the same in all rows of a person, of whom many have several (see kanon_sql/encode/repeated.py)
CREATE OR REPLACE TEMP MACRO __kanon_is_constant(persons) AS
    persons.agree AND persons.distinct > 1 AND persons.several >= 50
    AND 10 * persons.several >= persons.persons;

-- the hash of a value that may say whose row a row is; and the rows whose hash is among the largest. The
-- hash of 0, which many rows may have, is 0. That of a text is without its collation
CREATE OR REPLACE TEMP MACRO __kanon_key_hash(x) AS
    CASE WHEN x IS NOT NULL AND typeof(x) = 'VARCHAR' THEN hash(encode(x::VARCHAR))
        WHEN x IS NOT NULL AND (__kanon_is_text(typeof(x)) OR __kanon_is_integer(typeof(x)))
        THEN hash(x) ELSE NULL END;

CREATE OR REPLACE TEMP MACRO __kanon_keys(x, place, least) AS {
    'name': any_value(alias(x)),
    'found': list({'row': place, 'hash': x}) FILTER (WHERE x >= least)};

-- numbers may differ between any two persons by themselves, where few have several rows
CREATE OR REPLACE TEMP MACRO __kanon_is_entity(persons) AS
    (__kanon_is_text(persons.type) AND __kanon_like_entity(persons, 0)
        AND 2 * persons.common < persons.persons)
    OR (__kanon_is_integer(persons.type) AND __kanon_like_entity(persons, 1)
        AND persons.several >= 50);

-- name: key
-- A value as the text by which it is found in a hierarchy: SELECT __kanon_key(zip) FROM patients.
-- NaN is missing and -0.0 is 0, as in __kanon_value, but for values of any type. It has no collation,
-- which is why all branches are encoded: one that isn't would give its collation to the others.
CREATE OR REPLACE TEMP MACRO __kanon_key(x) AS decode(encode(
    CASE WHEN typeof(x) IN ('FLOAT', 'DOUBLE') OR starts_with(typeof(x), 'DECIMAL')
        THEN regexp_replace(
            CASE WHEN x::VARCHAR LIKE '%nan' THEN NULL
                 WHEN x::VARCHAR = '-0.0' THEN '0' ELSE x::VARCHAR END, '\.0+$$', '')
    ELSE x::VARCHAR END));

-- name: weight
-- For how many people a row stands: SELECT __kanon_total(w) FROM patients GROUP BY zip.
-- Doubles are added in the order of their values, so that the order of the rows means nothing.
-- What is no number above 0 is left out, and refused elsewhere (__kanon_weighs).
CREATE OR REPLACE TEMP MACRO __kanon_weight(x) AS list_filter(
    [TRY_CAST(x::VARCHAR AS DOUBLE)],
    lambda __kanon_x: isfinite(__kanon_x) AND __kanon_x > 0)[1];

CREATE OR REPLACE TEMP MACRO __kanon_added(x) AS list_sum(list_sort(list(x), 'ASC', 'NULLS LAST'));

CREATE OR REPLACE TEMP MACRO __kanon_total(x) AS __kanon_added(__kanon_weight(x));

-- whether it is a number above 0
CREATE OR REPLACE TEMP MACRO __kanon_weighs(x) AS
    (typeof(x) IN ('FLOAT', 'DOUBLE') OR starts_with(typeof(x), 'DECIMAL')
     OR __kanon_is_integer(typeof(x)))
    AND __kanon_weight(x) IS NOT NULL;

-- name: diversity
-- How alike the rows of a class are: SELECT __kanon_alike(disease) FROM released GROUP BY ALL.
-- NULL is a value. A lambda, so that an aggregate stands once (see centroid.sql).
CREATE OR REPLACE TEMP MACRO __kanon_alike(x) AS list_transform(
    [{'low': min(encode(x::VARCHAR)), 'high': max(encode(x::VARCHAR)),
      'known': count(x), 'all': count(*)}],
    lambda __kanon_ends: __kanon_ends.low IS NOT DISTINCT FROM __kanon_ends.high
        AND __kanon_ends.known IN (0, __kanon_ends.all))[1];

CREATE OR REPLACE TEMP MACRO __kanon_majority(x) AS
    list_max(map_values(list_aggregate(
        list(coalesce('=' || decode(encode(x::VARCHAR)), '')), 'histogram')));
