-- What privacy models look at, of the crowds of a release as of its classes; all rows are those that
-- are released now: a part of
-- anonymize('t', k=5, entity='id', ledger='releases', l=2, sensitive=['disease']).
__kanon_histogram_${i}_crowds AS MATERIALIZED (  -- persons of each value in each crowd
    SELECT combination, decode(encode(__kanon_key(${column}))) AS label, count(*) AS size
    FROM __kanon_members JOIN __kanon_labelled USING (__kanon_row)
    GROUP BY combination, decode(encode(__kanon_key(${column})))
),
__kanon_domain_${i}_crowds AS (FROM __kanon_domain_${i}),
__kanon_whole_${i}_crowds AS (FROM __kanon_whole_${i}),
__kanon_spread_${i}_crowds AS MATERIALIZED (  -- the persons of each crowd
    SELECT combination, sum(size)::BIGINT AS size, count(label) AS different,
           coalesce(sum(size) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing
    FROM __kanon_histogram_${i}_crowds GROUP BY combination
),
__kanon_placed_${i}_crowds AS (  -- persons of each value in each crowd, and among all
    SELECT combination, __kanon_domain_${i}.label, place, size, many
    FROM __kanon_histogram_${i}_crowds AS crowds JOIN __kanon_domain_${i}
        ON crowds.label IS NOT DISTINCT FROM __kanon_domain_${i}.label
),
