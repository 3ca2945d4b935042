-- How many rows of whom are in each combination, and in how many of these everybody is: a part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], entity='patient_id', k=5).
__kanon_whose AS MATERIALIZED (
    SELECT combination, entity, count(*) AS size
    FROM (SELECT combination, ${whose} AS entity FROM __kanon_sets)
    GROUP BY combination, entity
),
__kanon_sizes AS MATERIALIZED (
    SELECT sum(size)::BIGINT AS __kanon_size, count(*) AS crowd, max(size) AS most
    FROM __kanon_whose GROUP BY combination
),
__kanon_persons AS (
    SELECT count(*) AS persons, count(*) FILTER (WHERE places > 1) AS scattered,
           count(*) FILTER (WHERE entity IS NULL) AS nobody,
           coalesce(max("rows"), 0)::BIGINT AS most_rows
    FROM (SELECT entity, count(*) AS places, sum(size) AS "rows" FROM __kanon_whose GROUP BY entity)
)
