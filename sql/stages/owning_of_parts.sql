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
