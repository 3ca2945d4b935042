-- name: modes
-- The centroids where columns have a hierarchy, and so no mean: there the most frequent value. A
-- part of anonymize('t', k=5, method='r_gather', hierarchies={'zip': 'prefix'}).
SELECT __kanon_means.* REPLACE (${modes})
    FROM (${means}) AS __kanon_means
    JOIN (SELECT __kanon_class, ${counted} FROM __kanon_labelled GROUP BY __kanon_class)
        AS __kanon_modes USING (__kanon_class)

-- name: owning_means
-- No class publishes the row that the method chose: a part of
-- anonymize('t', k=5, method='r_gather', centers='means').
[]::BIGINT[]

-- name: owning_rows
-- Every class publishes the row that the method chose: a part of
-- anonymize('t', k=5, method='r_gather', centers='rows').
(SELECT list(__kanon_class) FROM __kanon_chosen)

-- name: owning_of_parts
-- The same, each part by itself: a part of anonymize('t', k=5, method='r_gather', within=['day']).
(SELECT list(class) FROM (SELECT unnest(__kanon_centers(
        list({'row': __kanon_row, 'hash': __kanon_hash, 'class': __kanon_class, 'cells': cells,
              'center': center, 'own': own}),
        (SELECT columns FROM __kanon_columns),
        ${options},
        ${hierarchies},
        (SELECT grouped.hidden FROM __kanon_grouped))) AS class
    FROM __kanon_cells JOIN __kanon_labels USING (__kanon_row)
    JOIN (SELECT __kanon_class, [*COLUMNS(* EXCLUDE (__kanon_class))] AS center
          FROM (SELECT __kanon_class, __kanon_cell(COLUMNS(* EXCLUDE (__kanon_class)))
                FROM ${centroids})) USING (__kanon_class)
    JOIN (SELECT __kanon_class, [*COLUMNS(* EXCLUDE (__kanon_class))] AS own
          FROM (SELECT __kanon_class, __kanon_cell(COLUMNS(* EXCLUDE (__kanon_class)))
                FROM ${chosen})) USING (__kanon_class)
    GROUP BY __kanon_secrets[len(__kanon_secrets)].number))

-- name: owning
-- The classes whose centroid has a larger radius than the row that the method chose: a part of
-- anonymize('t', k=5, method='r_gather').
(SELECT __kanon_centers(
        list({'row': __kanon_row, 'hash': __kanon_hash, 'class': __kanon_class, 'cells': cells,
              'center': center, 'own': own}),
        (SELECT columns FROM __kanon_columns),
        ${options},
        ${hierarchies},
        (SELECT grouped.hidden FROM __kanon_grouped))
    FROM __kanon_cells JOIN __kanon_labels USING (__kanon_row)
    JOIN (SELECT __kanon_class, [*COLUMNS(* EXCLUDE (__kanon_class))] AS center
          FROM (SELECT __kanon_class, __kanon_cell(COLUMNS(* EXCLUDE (__kanon_class)))
                FROM ${centroids})) USING (__kanon_class)
    JOIN (SELECT __kanon_class, [*COLUMNS(* EXCLUDE (__kanon_class))] AS own
          FROM (SELECT __kanon_class, __kanon_cell(COLUMNS(* EXCLUDE (__kanon_class)))
                FROM ${chosen})) USING (__kanon_class))

-- name: stages
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
