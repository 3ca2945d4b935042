-- Classes where nobody knows the population: a part of anonymize_risk('patients').
__kanon_met AS (
    SELECT __kanon_size AS here, NULL::DOUBLE AS people, NULL::BIGINT AS short FROM __kanon_sizes
),
