-- The representation 'bounds', typed: SELECT __kanon_bounds(COLUMNS(*)) FROM patients.
-- decode(encode(x)) is x without its collation: values that only look alike stay apart.
CREATE OR REPLACE TEMP MACRO __kanon_distinct(x) AS list_transform(
    [list_sort(list_distinct(list(x)), 'ASC', 'NULLS LAST')],
    lambda __kanon_set: CASE WHEN len(__kanon_set) > 0 THEN __kanon_set END)[1];

CREATE OR REPLACE TEMP MACRO __kanon_bounds
    (x VARCHAR) AS __kanon_distinct(decode(encode(x))),
    (x BOOLEAN) AS __kanon_distinct(x),
    (x) AS list_transform(
        [{'min': min(x), 'max': max(x)}],
        lambda __kanon_ends: CASE WHEN __kanon_ends.min IS NOT NULL THEN __kanon_ends END)[1];

-- values without an order, whatever their type
CREATE OR REPLACE TEMP MACRO __kanon_members
    (x VARCHAR) AS __kanon_distinct(decode(encode(x))),
    (x) AS __kanon_distinct(x);
