-- People per class by sums of weights: a part of anonymize_risk('patients', weight='w').
-- There are as many people as rows at least.
__kanon_met AS (
    SELECT __kanon_size AS here, greatest(__kanon_people, __kanon_size::DOUBLE) AS people,
           CASE WHEN __kanon_people < __kanon_size THEN __kanon_size ELSE 0 END AS short
    FROM __kanon_sizes
),
