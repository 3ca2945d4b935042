-- What the grouping costs, measured from the released point of each class (its centroid where
-- the representation is no point).
_centers AS (
    SELECT __kanon_class, [*COLUMNS(* EXCLUDE (__kanon_class))] AS center
    FROM (SELECT __kanon_class, __kanon_cell(${quasi_classes}) FROM (${centers}))
),
_measured AS MATERIALIZED (
    SELECT __kanon_measure(
        list({'row': __kanon_row, 'hash': __kanon_hash, 'class': __kanon_class,
              'cells': cells, 'center': coalesce(center, cells)}),
        (SELECT columns FROM _columns),
        ${options},
        ${hierarchies}) AS measured
    FROM _cells JOIN _labels USING (__kanon_row) LEFT JOIN _centers USING (__kanon_class)
),
_radii AS (
    SELECT entry.class AS __kanon_class, entry.radius AS radius
    FROM (SELECT unnest(measured.radii) AS entry FROM _measured)
)
