-- name: written
-- How values are written, by which a hierarchy may be suggested (see kanon_sql/hierarchies/codes.py):
-- SELECT __kanon_form(COLUMNS(*)) FROM patients. NULL is none of them; without a value all is NULL.
-- Each text is looked at once, since most columns have few; of numbers, dates and times only what is
-- asked of numbers.
list_transform(
 [{'texts': CASE WHEN count(${x}) > 0 THEN list_distinct(list(decode(encode(${x}::VARCHAR))) FILTER (
        typeof(${x}) = 'VARCHAR' OR typeof(${x}) LIKE 'ENUM(%')) END,
   'whole': bool_and(CASE WHEN contains(${x}::VARCHAR, '.')
        THEN regexp_full_match(${x}::VARCHAR, '-?[0-9]+[.]0+') ELSE true END)
        FILTER (typeof(${x}) IN ('FLOAT', 'DOUBLE') OR typeof(${x}) LIKE 'DECIMAL(%'),
   'tens': bool_and(${x}::VARCHAR LIKE '%0')}],
 lambda __kanon_all: {
 'shortest': list_min(list_transform(__kanon_all.texts, lambda __kanon_x: len(__kanon_x))),
 'longest': list_max(list_transform(__kanon_all.texts, lambda __kanon_x: len(__kanon_x))),
 'digits': len(list_filter(__kanon_all.texts, lambda __kanon_x: NOT regexp_full_match(
    __kanon_x, '[0-9]+'))) = 0,
 'codes': len(list_filter(__kanon_all.texts, lambda __kanon_x: NOT regexp_full_match(
    __kanon_x, '[A-Z]{0,3}[-. ]?[0-9][0-9A-Z]*([-. ][0-9A-Z]+)*'))) = 0
    AND list_min(list_transform(__kanon_all.texts, lambda __kanon_x: len(__kanon_x))) > 2,
 'capitals': len(list_filter(__kanon_all.texts, lambda __kanon_x: NOT regexp_full_match(
    __kanon_x, '[0-9A-Z]+([-. /][0-9A-Z]+)*'))) = 0
    AND len(list_filter(__kanon_all.texts, lambda __kanon_x: NOT regexp_full_match(__kanon_x, '[^0-9]*'))) > 0,
 'zeros': len(list_filter(__kanon_all.texts, lambda __kanon_x: regexp_full_match(__kanon_x, '0[0-9]+'))) > 0,
 'dates': len(list_filter(__kanon_all.texts, lambda __kanon_x: NOT regexp_full_match(
    __kanon_x, '[12][0-9]{3}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?)?'))) = 0
    AND len(list_filter(__kanon_all.texts, lambda __kanon_x: TRY_CAST(__kanon_x[1:10] AS DATE) IS NULL)) = 0,
 'decimals': len(list_filter(__kanon_all.texts, lambda __kanon_x: NOT regexp_full_match(
    __kanon_x, '-?[0-9]+([.][0-9]+)?'))) = 0,
 'whole': coalesce(__kanon_all.whole, len(list_filter(__kanon_all.texts, lambda __kanon_x: NOT regexp_full_match(
    __kanon_x, '-?[0-9]+([.]0+)?'))) = 0),
 'tens': __kanon_all.tens,
 'places': len(list_filter(__kanon_all.texts, lambda __kanon_x: NOT regexp_full_match(
    __kanon_x, '(POINT)? *[(]? *[-+]?[0-9]+([.][0-9]+)?( *[,;] *| +)[-+]?[0-9]+([.][0-9]+)? *[)]?'))) = 0,
 'fixed_head': list_min(list_transform(__kanon_all.texts, lambda __kanon_x: len(split_part(__kanon_x, '.', 1))))
    = list_max(list_transform(__kanon_all.texts, lambda __kanon_x: len(split_part(__kanon_x, '.', 1))))
 })[1]

-- name: facts
-- What is known of a column before the query runs, for hierarchies := 'suggested'.
SELECT to_json({
    'name': ${name}, 'type': min(typeof(x)), 'values': sum(CASE WHEN x IS NULL THEN 0 ELSE n END)::BIGINT,
    'distinct': count(x), 'low': TRY_CAST(min(x)::VARCHAR AS HUGEINT)::VARCHAR,
    'high': TRY_CAST(max(x)::VARCHAR AS HUGEINT)::VARCHAR,
    'written': ${written}})::VARCHAR AS facts
FROM (SELECT any_value(x) AS x, count(*) AS n FROM (SELECT ${column} AS x FROM ${relation})
      GROUP BY x, CASE WHEN typeof(x) = 'VARCHAR' THEN encode(x::VARCHAR) END)

-- name: persons
-- What is counted of each column by persons: a part of
-- anonymize_roles('visits', entity='patient_id').
(SELECT to_json(told)::VARCHAR FROM __kanon_told)

-- name: call
-- One row per column, what it is and what will be released of it: FROM anonymize_roles('patients').
WITH ${unshadowed},
__kanon_source AS MATERIALIZED (
    SELECT __kanon.* FROM ${relation} AS __kanon${where}
),
${whose}__kanon_counted AS (  -- what a reader of the printed values can tell apart
    SELECT [*COLUMNS(*)] AS counted FROM (SELECT __kanon_counted(COLUMNS(*)) FROM __kanon_source)
),
__kanon_described AS (  -- name and type of each column, also where there are no rows
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(COLUMNS(*)) FROM ${one_source})
),
__kanon_columns AS (  -- name and type of each released quasi-identifier
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(COLUMNS(*))
          FROM (SELECT ${values} FROM (SELECT ${quasi} FROM __kanon_source LIMIT 0)))
),
__kanon_found AS MATERIALIZED (
    SELECT __kanon_roles(
        list_transform(counted, lambda __kanon_each: __kanon_each.hashes),
        (SELECT columns FROM __kanon_described),
        to_json(list_transform(counted, lambda __kanon_each: __kanon_each.counts))::VARCHAR,
        ${persons},
        (SELECT columns FROM __kanon_columns),
        ${told}) AS columns
    FROM __kanon_counted
)
SELECT unnest(from_json(columns, '[{
    "column_name": "VARCHAR", "column_type": "VARCHAR", "role": "VARCHAR", "role_from": "VARCHAR",
    "suggested_role": "VARCHAR", "suggested_hierarchy": "VARCHAR",
    "hierarchy_reason": "VARCHAR", "distinct_values": "BIGINT", "nulls": "BIGINT", "unique_share": "DOUBLE", "separation": "DOUBLE", "released_as": "VARCHAR",
    "released_type": "VARCHAR", "remarks": ["VARCHAR"]}]'), max_depth := 2)
FROM __kanon_found, __kanon_unshadowed
WHERE __kanon_unshadowed.passed AND CASE
${refusals}        ELSE true END
