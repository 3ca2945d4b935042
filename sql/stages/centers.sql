-- The published centers: a part of anonymize('t', k=5, method='r_gather').
__kanon_centroids AS MATERIALIZED (
    ${centroids}
),
__kanon_chosen AS MATERIALIZED (  -- the row that the method chose as the center of each class
    SELECT __kanon_center.class AS __kanon_class, __kanon_value(${quasi})
    FROM __kanon_kept
    JOIN (SELECT unnest(grouped.centers) AS __kanon_center FROM __kanon_grouped)
        ON __kanon_kept.__kanon_row = __kanon_center.row
),
__kanon_owning AS MATERIALIZED (  -- the classes that publish it; all others publish their centroid
    SELECT unnest(${owning}) AS __kanon_class
),
__kanon_published AS MATERIALIZED (
    (SELECT * FROM __kanon_centroids
     WHERE __kanon_class NOT IN (SELECT __kanon_class FROM __kanon_owning))
    UNION ALL BY NAME
    (SELECT * FROM __kanon_chosen
     WHERE __kanon_class IN (SELECT __kanon_class FROM __kanon_owning))
),
