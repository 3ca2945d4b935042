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
    "suggested_role": "VARCHAR", "suggested_hierarchy": "VARCHAR", "distinct_values": "BIGINT", "nulls": "BIGINT",
    "unique_share": "DOUBLE", "separation": "DOUBLE", "released_as": "VARCHAR",
    "released_type": "VARCHAR", "remarks": ["VARCHAR"]}]'), max_depth := 2)
FROM __kanon_found, __kanon_unshadowed
WHERE __kanon_unshadowed.passed AND CASE
${refusals}        ELSE true END
