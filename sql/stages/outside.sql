-- The cells of the rows that take no part: a part of anonymize_metrics('t', k=5, nulls='suppress').
(SELECT list(cells)
    FROM (SELECT __kanon_row, [*COLUMNS(* EXCLUDE (__kanon_row))] AS cells
          FROM (SELECT __kanon_row, ${cell} FROM ${keyed_source}))
    WHERE __kanon_row NOT IN (SELECT __kanon_row FROM __kanon_cells))
