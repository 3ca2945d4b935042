-- What the grouping costs, measured from the released point of each class (its centroid where
-- the representation is no point), and what is lost by what the classes publish.
__kanon_alike AS MATERIALIZED (  -- classes that release the same values, by the first of them
    SELECT unnest(__kanon_members) AS __kanon_class, __kanon_first
    FROM (SELECT list(__kanon_class) AS __kanon_members, min(__kanon_class) AS __kanon_first,
                 ${seen_classes}
          FROM __kanon_classes GROUP BY ALL)
),
__kanon_centers AS (
    SELECT __kanon_class, [*COLUMNS(* EXCLUDE (__kanon_class))] AS center
    FROM (SELECT __kanon_class, __kanon_cell(${quasi_classes}) FROM (${centers}))
),
__kanon_measured AS MATERIALIZED (
    SELECT __kanon_measure(
        list({'row': __kanon_row, 'hash': __kanon_hash, 'class': __kanon_class,
              'alike': coalesce(__kanon_first, __kanon_class),
              'cells': cells, 'center': coalesce(center, cells)}),
        (SELECT columns FROM __kanon_columns),
        ${options},
        ${hierarchies},
        ${published},
        (SELECT struct_pack(facts := grouped.facts, cells := grouped.cells, types := (
             SELECT [*COLUMNS(*)] FROM (SELECT typeof(${quasi}) FROM ${one_source})))
         FROM __kanon_grouped),
        ${outside},
        (SELECT grouped.hidden FROM __kanon_grouped)) AS measured
    FROM __kanon_cells JOIN __kanon_labels USING (__kanon_row)
    LEFT JOIN __kanon_centers USING (__kanon_class)
    LEFT JOIN __kanon_alike USING (__kanon_class)
),
__kanon_radii AS (
    SELECT entry.class AS __kanon_class, entry.radius AS radius
    FROM (SELECT unnest(measured.radii) AS entry FROM __kanon_measured)
)
