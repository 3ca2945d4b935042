-- The published centers: a part of anonymize('t', k=5, method='r_gather').
_centroids AS MATERIALIZED (
    ${centroids}
),
_chosen AS MATERIALIZED (  -- the row that the method chose as the center of each class
    SELECT __kanon_center.class AS __kanon_class, __kanon_value(${quasi})
    FROM _kept
    JOIN (SELECT unnest(grouped.centers) AS __kanon_center FROM _grouped)
        ON _kept.__kanon_row = __kanon_center.row
),
_owning AS MATERIALIZED (  -- the classes that publish it; all others publish their centroid
    SELECT unnest(${owning}) AS __kanon_class
),
_published AS MATERIALIZED (
    (SELECT * FROM _centroids WHERE __kanon_class NOT IN (SELECT __kanon_class FROM _owning))
    UNION ALL BY NAME
    (SELECT * FROM _chosen WHERE __kanon_class IN (SELECT __kanon_class FROM _owning))
),
