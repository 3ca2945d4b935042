-- What privacy models look at, of one sensitive column; label is its value as text, NULL where it is
-- missing: a part of anonymize('t', k=5, l=3, sensitive=['disease']).
__kanon_histogram_${i} AS MATERIALIZED (  -- rows of each value in each combination
    ${histogram}
),
__kanon_domain_${i} AS MATERIALIZED (  -- the values of all rows in their order, a missing one last
    SELECT ${part}label, sum(size)::BIGINT AS many, any_value(number) AS number,
           row_number() OVER (${window}ORDER BY label IS NULL ASC, min(sorted) ASC NULLS LAST,
                                       encode(label) ASC NULLS LAST) - 1 AS place
    FROM __kanon_histogram_${i} GROUP BY ${part}label
),
__kanon_whole_${i} AS MATERIALIZED (  -- all rows
    SELECT ${part}coalesce(sum(many), 0)::BIGINT AS many, count(label) AS different,
           coalesce(sum(many) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing,
           count(number) > 0 AS ordered
    FROM __kanon_domain_${i}${grouped}
),
__kanon_spread_${i} AS MATERIALIZED (  -- the rows of each combination
    SELECT ${part}combination, sum(size)::BIGINT AS size, count(label) AS different,
           coalesce(sum(size) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing
    FROM __kanon_histogram_${i} GROUP BY ${part}combination
),
__kanon_placed_${i} AS (  -- rows of each value in each combination, and among all rows
    SELECT ${placed}combination, __kanon_domain_${i}.label, place, size, many
    FROM __kanon_histogram_${i} JOIN __kanon_domain_${i}
        ON __kanon_histogram_${i}.label IS NOT DISTINCT FROM __kanon_domain_${i}.label${alike}
),
