-- How many published centers are a row of the relation, NULL equal to NULL: a part of
-- anonymize_metrics('t', k=5, method='r_gather').
(SELECT count(DISTINCT center) FROM __kanon_centers
    WHERE center IN (SELECT cells FROM __kanon_cells))
